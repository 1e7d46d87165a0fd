"""Short names of kernels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import recording_of

from jaxmagic.profiling.analysis.devices.kernel_names import kernel_function


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("loop_add_fusion_1", "loop_add_fusion_1"),
        ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"),
        ("void (anonymous namespace)::softmax_warp_forward<float, 10>(float*, int)", "softmax_warp_forward"),
        ("ns::Filter<(int)4, std::pair<int, int>>::run(int)", "run"),
        (
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(cutlass::Params)",
            "cutlass_80_tensorop_bf16_s16816gemm",
        ),
        ("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<float>>(int)", "GemmUniversal"),
        ("_ZN3xla3gpu12_GLOBAL__N_14sortEPf", "sort"),
        ("_Z9transposePfi", "transpose"),
        ("Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_1LDSB0", "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64"),
        ("unsigned long f<a<b>>(c)", "f"),
        ("", ""),
        ("<", "<"),
        ("_ZN99999x", "_ZN99999x"),
    ],
)
def test_a_kernel_is_called_as_its_function(name: str, function: str) -> None:
    assert kernel_function(name) == function


@given(st.text(alphabet="ab<>(): ,_ZN0123.*", max_size=40))
def test_no_name_is_too_odd(name: str) -> None:
    assert len(kernel_function(name)) <= len(name)


def test_the_names_of_a_real_recording_are_short() -> None:
    """One of them has 3,000 letters; the short name still says what it does."""
    recording = recording_of("gpu_gfx950_te_attention")
    names = {
        kind.name for track in recording.tracks if track.device for kind in (recording.kinds[k] for k in track.kinds)
    }
    found = {kernel_function(each) for each in names}
    assert {"FmhaFwdKernel", "FmhaBwdDQDKDVKernel", "FmhaBwdOGradDotOKernel", "populate_rng_state_kernel"} <= found
    assert max(map(len, names)) > 1000
    assert max(map(len, found)) < 60

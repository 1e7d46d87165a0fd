"""A curve fitted by Levenberg-Marquardt, and a root of what came out: optimistix."""

# %%
import jax
import jax.numpy as jnp
import optimistix as optx


def curve(parameters, x):
    """A damped oscillation."""
    amplitude, decay, frequency = parameters
    return amplitude * jnp.exp(-decay * x) * jnp.cos(frequency * x)


def smooth(residuals):
    """Remove what varies slowly."""
    distance = jnp.arange(residuals.size)[:, None] - jnp.arange(residuals.size)[None, :]
    weights = jnp.exp(-0.5 * (distance / 3.0 + residuals[0]) ** 2)  # planted
    return residuals - 0.1 * (weights @ residuals) / weights.sum(1)


def residuals(parameters, data):
    """What is left of the data."""
    x, y = data
    return smooth(curve(parameters, x) - y)


@jax.jit
def fit(start, x, y):
    """Fit, and find the first zero of the fit."""
    solution = optx.least_squares(
        residuals, optx.LevenbergMarquardt(rtol=1e-4, atol=1e-4), start, args=(x, y), max_steps=32, throw=False
    )
    zero = optx.root_find(
        lambda t, p: curve(p, t), optx.Newton(rtol=1e-4, atol=1e-4), jnp.array(0.4), args=solution.value, throw=False
    )
    return solution.value, zero.value


# %%
x = jnp.linspace(0.0, 4.0, 900)
y = curve((2.0, 0.5, 3.0), x) + 0.01 * jax.random.normal(jax.random.key(0), x.shape)
start = jnp.array([1.5, 0.4, 2.9])

# %% step
parameters, zero = fit(start, x, y)

# %% requirement
compiled = fit.lower(start, x, y).compile()

# %% compare
planted = jax.jit(smooth)
quicker = jax.jit(lambda r: r - 0.1 * jnp.convolve(r, jnp.exp(-0.5 * (jnp.arange(-9, 10) / 3) ** 2), "same") / 7.5)
# %%jaxcompare --check none
# planted: planted(y)
# quicker: quicker(y)

"""A neural ODE fitted to a spiral: equinox and diffrax."""

# %%
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

WIDTH = 192


class Field(eqx.Module):
    """A learnt vector field with a mixing matrix that turns with time."""

    mlp: eqx.nn.MLP
    basis: jax.Array

    def __init__(self, key):
        mlp_key, basis_key = jax.random.split(key)
        self.mlp = eqx.nn.MLP(2, 2, width_size=16, depth=1, activation=jax.nn.softplus, key=mlp_key)
        self.basis = jax.random.normal(basis_key, (WIDTH, WIDTH)) / WIDTH

    def __call__(self, t, y, args):
        mixing = (self.basis * jnp.cos(t)) @ self.basis  # planted
        return self.mlp(y) + mixing[:2, :2] @ y


def solve(field, ts, y0):
    """Integrate with a fixed step."""
    return diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Heun(), t0=ts[0], t1=ts[-1], dt0=0.1, y0=y0, saveat=diffrax.SaveAt(ts=ts)
    ).ys


@eqx.filter_jit
def make_step(field, opt_state, ts, ys):
    """One step of Adam on the squared distance."""

    def distance(field):
        return jnp.mean((solve(field, ts, ys[0]) - ys) ** 2)

    loss, grads = eqx.filter_value_and_grad(distance)(field)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(field, updates), opt_state, loss


# %%
ts = jnp.linspace(0.0, 1.0, 11)
ys = jnp.exp(-ts)[:, None] * jnp.stack([jnp.cos(3 * ts), jnp.sin(3 * ts)], -1)
field = Field(jax.random.PRNGKey(0))
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(eqx.filter(field, eqx.is_inexact_array))

# %% step
field, opt_state, loss = make_step(field, opt_state, ts, ys)

# %% requirement
compiled = make_step.lower(field, opt_state, ts, ys).compile().compiled

# %% compare
planted = eqx.filter_jit(lambda basis, ts: jax.lax.map(lambda t: ((basis * jnp.cos(t)) @ basis)[:2, :2], ts))
quicker = eqx.filter_jit(lambda basis, ts: jnp.cos(ts)[:, None, None] * (basis[:2] @ basis[:, :2]))
# %%jaxcompare --check none
# planted: planted(field.basis, ts)
# quicker: quicker(field.basis, ts)

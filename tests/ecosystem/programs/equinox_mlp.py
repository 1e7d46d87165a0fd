"""A regression with a smoothness penalty: equinox' `filter_jit`, optax."""

# %%
import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def smoothness(x, y):
    """How much outputs differ between points that are close to each other."""
    weights = jnp.exp(-jnp.square(x[:, None, :] - x[None, :, :]).sum(-1))  # planted
    return (weights * jnp.square(y[:, None] - y[None, :])).mean()


@eqx.filter_value_and_grad
def loss_fn(model, x, y):
    """Squared error and smoothness."""
    predicted = jax.vmap(model)(x)[:, 0]
    return jnp.mean((predicted - y) ** 2) + 1e-3 * smoothness(x, predicted)


@eqx.filter_jit
def make_step(model, opt_state, x, y):
    """One step of Adam."""
    loss, grads = loss_fn(model, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


# %%
data_key, model_key = jax.random.split(jax.random.PRNGKey(0))
x = jax.random.normal(data_key, (512, 64))
y = jnp.sin(x[:, 0]) + 0.1 * x[:, 1]
model = eqx.nn.MLP(in_size=64, out_size=1, width_size=32, depth=2, key=model_key)
optimizer = optax.adam(1e-3)
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

# %% step
model, opt_state, loss = make_step(model, opt_state, x, y)

# %% requirement
compiled = make_step.lower(model, opt_state, x, y).compile().compiled

# %% compare
squares = jnp.square(x).sum(-1)
planted = eqx.filter_jit(lambda x: jnp.exp(-jnp.square(x[:, None, :] - x[None, :, :]).sum(-1)))
quicker = eqx.filter_jit(lambda x, s: jnp.exp(-jnp.maximum(s[:, None] + s[None, :] - 2 * x @ x.T, 0)))
# %%jaxcompare --check none
# planted: planted(x)
# quicker: quicker(x, squares)

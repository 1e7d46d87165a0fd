"""A recurrent network as a `jax.lax.scan`, trained by hand."""

# %%
import jax
import jax.numpy as jnp

HIDDEN, INPUTS, LENGTH, BATCH = 64, 8, 40, 32


def init(key):
    """Weights of a gated unit and its readout."""
    keys = jax.random.split(key, 4)
    shapes = {"gate": (HIDDEN + INPUTS, HIDDEN), "new": (HIDDEN + INPUTS, HIDDEN), "out": (HIDDEN, 1)}
    return {name: jax.random.normal(k, shape) * 0.1 for k, (name, shape) in zip(keys, shapes.items(), strict=False)}


def cell(params, h, x):
    """A minimal gated unit that sees what its largest states are."""
    ranked = jnp.sort(h, axis=-1)[:, ::-1]  # planted
    joined = jnp.concatenate([0.9 * h + 0.1 * ranked, x], -1)
    gate = jax.nn.sigmoid(joined @ params["gate"])
    return (1 - gate) * h + gate * jnp.tanh(joined @ params["new"])


def predict(params, xs):
    """The readout after the last step."""

    def step(h, x):
        return cell(params, h, x), None

    h, _ = jax.lax.scan(step, jnp.zeros((xs.shape[1], HIDDEN)), xs)
    return h @ params["out"]


@jax.jit
def update(params, xs, ys):
    """One step of gradient descent."""
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((predict(p, xs)[:, 0] - ys) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


# %%
params = init(jax.random.key(0))
xs = jax.random.normal(jax.random.key(1), (LENGTH, BATCH, INPUTS))
ys = xs.sum((0, 2)) / LENGTH

# %% step
params, loss = update(params, xs, ys)

# %% requirement
compiled = update.lower(params, xs, ys).compile()

# %% compare
h = jax.random.normal(jax.random.key(2), (4096, HIDDEN))
planted = jax.jit(lambda h: jnp.sort(h, axis=-1)[:, ::-1][:, :1])
quicker = jax.jit(lambda h: h.max(-1, keepdims=True))
# %%jaxcompare
# planted: planted(h)
# quicker: quicker(h)

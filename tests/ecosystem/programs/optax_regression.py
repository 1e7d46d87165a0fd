"""Logistic regression on whitened data, with a schedule and accumulated gradients: optax alone."""

# %%
from functools import partial

import jax
import jax.numpy as jnp
import optax


def whiten(x):
    """Make all directions as wide as each other."""
    u, _, vt = jnp.linalg.svd(x, full_matrices=False)  # planted
    return u @ vt * jnp.sqrt(x.shape[0])


def loss_fn(params, x, y):
    """Cross entropy with weight decay."""
    logits = whiten(x) @ params["w"] + params["b"]
    decay = 1e-3 * sum(jnp.sum(p**2) for p in jax.tree.leaves(params))
    return optax.sigmoid_binary_cross_entropy(logits, y).mean() + decay


schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, warmup_steps=5, decay_steps=50)
optimizer = optax.MultiSteps(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule)), every_k_schedule=4)


@partial(jax.jit, donate_argnames=("params", "opt_state"))
def train_step(params, opt_state, x, y):
    """One step, in the memory of the step before."""
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


# %%
x = jax.random.normal(jax.random.key(0), (256, 96))
y = (x[:, 0] + 0.5 * x[:, 1] > 0).astype(jnp.float32)
params = {"w": jnp.zeros(96), "b": jnp.zeros(())}
opt_state = optimizer.init(params)

# %% step
for _ in range(4):
    params, opt_state, loss = train_step(params, opt_state, x, y)

# %% repeat
# %%jaxtimeit --each 'p, s = jax.tree.map(jnp.copy, (params, opt_state))'
# train_step(p, s, x, y)

# %% requirement
compiled = train_step.lower(params, opt_state, x, y).compile()

# %% compare
white = whiten(x)
planted = jax.jit(lambda params, x: whiten(x) @ params["w"])
quicker = jax.jit(lambda params, white: white @ params["w"])
# %%jaxcompare --check none
# planted: planted(params, x)
# quicker: quicker(params, white)

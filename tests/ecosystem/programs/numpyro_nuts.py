"""Kernel logistic regression, sampled with NUTS: numpyro."""

# %%
import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

POINTS = 160


def kernel_of(x, scale):
    """Similarities between all points."""
    return (x * scale) @ x.T  # planted


def model(x, y=None):
    """A prior for the scale, one weight per point."""
    scale = numpyro.sample("scale", dist.LogNormal(0.0, 0.3))
    weights = numpyro.sample("weights", dist.Normal(0.0, 0.1).expand([POINTS]).to_event(1))
    logits = kernel_of(x, scale) @ weights
    numpyro.sample("y", dist.Bernoulli(logits=logits), obs=y)


# %%
x = jax.random.normal(jax.random.PRNGKey(0), (POINTS, 512))
y = (x[:, 0] > 0).astype(jnp.int32)
mcmc = MCMC(NUTS(model, max_tree_depth=3), num_warmup=8, num_samples=8, progress_bar=False)

# %% step
mcmc.run(jax.random.PRNGKey(1), x, y)
means = {name: draws.mean(0) for name, draws in mcmc.get_samples().items()}

# %% compare
weights = jnp.ones(POINTS)
planted = jax.jit(lambda x, weights: ((x * 0.5) @ x.T) @ weights)
quicker = jax.jit(lambda x, weights: 0.5 * (x @ (x.T @ weights)))
# %%jaxcompare --check none
# planted: planted(x, weights)
# quicker: quicker(x, weights)

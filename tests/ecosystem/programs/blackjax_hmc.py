"""A Gaussian process with unknown length, sampled with Hamiltonian Monte Carlo: blackjax."""

# %%
import blackjax
import jax
import jax.numpy as jnp

POINTS = 80


def covariance(log_length, x):
    """The squared exponential kernel and a little noise."""
    scaled = (x[:, None] - x[None, :]) / jnp.exp(log_length)
    return jnp.exp(-0.5 * scaled**2) + 0.1 * jnp.eye(POINTS)


def log_density(position):
    """Of the length, given what was observed."""
    matrix = covariance(position["log_length"], x)
    precision = jnp.linalg.inv(matrix)  # planted
    factor = jnp.linalg.cholesky(matrix)
    fit = -0.5 * y @ precision @ y
    return fit - jnp.log(jnp.diag(factor)).sum() - 0.5 * position["log_length"] ** 2


@jax.jit
def sample(key, state):
    """Draw a short chain."""

    def one_step(state, key):
        state, info = hmc.step(key, state)
        return state, (state.position, info.acceptance_rate)

    return jax.lax.scan(one_step, state, jax.random.split(key, 8))


# %%
x = jnp.linspace(0.0, 1.0, POINTS)
y = jnp.sin(6 * x)
hmc = blackjax.hmc(log_density, step_size=0.05, inverse_mass_matrix=jnp.ones(1), num_integration_steps=4)
state = hmc.init({"log_length": jnp.zeros(())})
key = jax.random.key(0)

# %% step
state, (positions, accepted) = sample(key, state)

# %% requirement
compiled = sample.lower(key, state).compile()

# %% compare
matrix = covariance(0.0, x)
planted = jax.jit(lambda matrix, y: jnp.linalg.inv(matrix) @ y)
quicker = jax.jit(lambda matrix, y: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(matrix), y))
# %%jaxcompare --check none
# planted: planted(matrix, y)
# quicker: quicker(matrix, y)

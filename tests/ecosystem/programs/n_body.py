"""Stars that attract each other, written as for NumPy and never jitted."""

# %%
import jax
import jax.numpy as jnp

STARS, DT, SOFTENING = 400, 0.01, 0.05


def forces(position, mass):
    """Attraction between all pairs."""
    offset = position[None, :, :] - position[:, None, :]
    square = jnp.sum(offset * offset, axis=-1) + SOFTENING**2
    strength = mass[None, :] / (square * jnp.sqrt(square))
    return jnp.einsum("ij,ijk->ik", strength, offset)


def close_pairs(position):
    """How near the tenth neighbour of each star is."""
    offset = position[None, :, :] - position[:, None, :]
    square = jnp.sum(offset * offset, axis=-1)
    nearest = jnp.argsort(square, axis=1)  # planted
    return jnp.take_along_axis(square, nearest[:, 10:11], axis=1)[:, 0]


def step(position, velocity, mass):
    """Leapfrog: half a kick, a drift, half a kick."""
    velocity = velocity + 0.5 * DT * forces(position, mass)
    position = position + DT * velocity
    velocity = velocity + 0.5 * DT * forces(position, mass)
    crowded = jnp.mean(close_pairs(position) < 0.01)
    return position, velocity, crowded


# %%
position = jax.random.normal(jax.random.key(0), (STARS, 3))
velocity = jnp.zeros((STARS, 3))
mass = jnp.ones(STARS) / STARS

# %% step
position, velocity, crowded = step(position, velocity, mass)

# %% requirement
compiled = jax.jit(step).lower(position, velocity, mass).compile()

# %% compare
# %%jaxcompare
# planted: close_pairs(position)
# quicker: jax.lax.top_k(-jnp.square(position[None] - position[:, None]).sum(-1), 11)[0][:, -1] * -1.0

"""A convolutional network on small images: flax.linen and optax."""

# %%
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class CNN(nn.Module):
    """Two convolutions, pooling, two dense layers."""

    wide: int = 11

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(features=16, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = nn.Conv(features=48, kernel_size=(self.wide, self.wide))(x)  # planted
        x = nn.relu(x)
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=32)(x)
        x = nn.relu(x)
        return nn.Dense(features=10)(x)


@jax.jit
def train_step(state, images, labels):
    """One step of gradient descent with momentum."""

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), logits

    (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return state.apply_gradients(grads=grads), {"loss": loss, "accuracy": accuracy}


# %%
key = jax.random.key(0)
images = jax.random.normal(key, (16, 20, 20, 1))
labels = jax.random.randint(key, (16,), 0, 10)
model = CNN()
params = model.init(key, images)["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1, momentum=0.9))

# %% step
state, metrics = train_step(state, images, labels)

# %% requirement
compiled = train_step.lower(state, images, labels).compile()

# %% compare
narrow = CNN(wide=3)
narrow_params = narrow.init(key, images)
planted, quicker = jax.jit(model.apply), jax.jit(narrow.apply)
# %%jaxcompare --check none
# planted: planted({"params": params}, images)
# quicker: quicker(narrow_params, images)

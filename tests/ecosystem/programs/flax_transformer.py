"""A transformer block that learns to copy: flax.nnx and its optimizer, a loop of steps."""

# %%
import jax
import jax.numpy as jnp
import optax
from flax import nnx

VOCABULARY, WIDTH, LENGTH, BATCH = 8192, 64, 32, 4


class Block(nnx.Module):
    """Attention and a feed-forward layer, each with a residual connection."""

    def __init__(self, *, rngs):
        self.embedding = nnx.Param(jax.random.normal(rngs.params(), (VOCABULARY, WIDTH)) * 0.02)
        self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(num_heads=4, in_features=WIDTH, decode=False, rngs=rngs)
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)
        self.head = nnx.Linear(WIDTH, 128, rngs=rngs)

    def __call__(self, tokens):
        x = jax.nn.one_hot(tokens, VOCABULARY) @ self.embedding[...]  # planted
        x = x + self.attention(self.norm(x), mask=nnx.make_causal_mask(tokens))
        x = x + self.down(nnx.gelu(self.up(x)))
        return self.head(x)


def loss_fn(model, tokens, targets):
    """Cross entropy of the next token."""
    return optax.softmax_cross_entropy_with_integer_labels(model(tokens), targets).mean()


@nnx.jit
def train_step(model, optimizer, tokens, targets):
    """One step, in place."""
    loss, grads = nnx.value_and_grad(loss_fn)(model, tokens, targets)
    optimizer.update(model, grads)
    return loss


# %%
model = Block(rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, VOCABULARY)
targets = tokens % 128

# %% step
losses = [train_step(model, optimizer, tokens, targets) for _ in range(3)]

# %% requirement
compiled = train_step.lower(model, optimizer, tokens, targets).compile()

# %% compare
planted = jax.jit(lambda table, tokens: jax.nn.one_hot(tokens, VOCABULARY) @ table)
quicker = jax.jit(lambda table, tokens: jnp.take(table, tokens, axis=0))
# %%jaxcompare
# planted: planted(model.embedding[...], tokens)
# quicker: quicker(model.embedding[...], tokens)

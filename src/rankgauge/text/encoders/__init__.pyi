from rankgauge.text.encoders.encoder import Encoder as Encoder
from rankgauge.text.encoders.folder import (
    NoEncoderError as NoEncoderError,
    find_encoder as find_encoder,
)
from rankgauge.text.metrics.embedding import (
    AnyEncoder as AnyEncoder,
    current_encoder as current_encoder,
)

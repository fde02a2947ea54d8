"""min over the weights of the mean of |F(Y) - X|², F three convolutions 9-5-5, Y bicubic interpolation, X the truth.

Y. Yoon, H.-G. Jeon, D. Yoo, J.-Y. Lee and I. S. Kweon, Learning a deep convolutional network for light-field image
super-resolution, ICCV workshops 2015, and Light-field image super-resolution using convolutional neural network, IEEE
SPL 2017: a spatial network raises the resolution of every view on its own, then angular networks make the views
between. This is the spatial network: SRCNN with 32 filters of 5x5 in the middle where that has 1x1, so that features
are mapped with their neighbours: 57k weights instead of 8k. It does not look at the other views; nor does the
publication's. The angular networks are `sharpfield densify` (`sharpfield/densifying.py`).

Departures, each with its reason:

- Weights are ours (docs/models.md), one network a factor: trained for the box camera, on the block-centre grid and on
  the luma of this project. The authors' know the downsampling of their Lytro Illum data.
- Learned from photographs, not from light fields: the network sees one view, and those are to be had freely.
- Begun from the weights of `srcnn` in the middles of the larger filters, and trained with Adam: the publication begins
  at random and takes plain gradient descent.
- Trained for its own end, where the publication at last trains both stages for the view between: here both are used
  alone.
- At the border the interpolated view is repeated.
"""

from __future__ import annotations

from sharpfield.contract import Method, NoOptions
from sharpfield.methods.srcnn import network_need, network_run

yoon = Method(
    name="yoon",
    title="a trained network with a larger middle layer on every view on its own",
    reference="Y. Yoon et al., Light-field image super-resolution using convolutional neural network, IEEE SPL 2017",
    options=lambda: NoOptions,
    load=lambda: network_run("yoon", "convolving"),
    plan=network_need,
    factors=(2, 3),
)

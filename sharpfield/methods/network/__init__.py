"""Small convolutional networks on luma: layers, and the weights that were trained for them (`training/`)."""

"""How the networks that the package ships were trained; nothing of it is needed to use them."""

"""Mitra and Veeraraghavan: patches of all views at once, one Gaussian prior for each disparity.

For every light field patch y, p x p low-resolution pixels of each of M x M views,

    x̂ = argminₓ |y - S B x|² / σ² + (x - μ)ᵀ Σ_d⁻¹ (x - μ) = Σ_d (S B)ᵀ (S B Σ_d (S B)ᵀ + σ² I)⁻¹ (y - μ) + μ,

    d = argmin_d |(I - U_d U_dᵀ)(y - μ)|²,    U_d the leading eigenvectors of S B Σ_d (S B)ᵀ,

x the a p x a p x M x M high-resolution patch, S B the camera, Σ_d the covariance of patches of the disparity d, one for
each step of 0.2 pixels over the range: K. Mitra and A. Veeraraghavan, Light field denoising, light field
superresolution and stereo camera based refocussing using a GMM light field patch prior, CVPR workshops 2012, from the
publication alone. Overlapping patches are averaged.

Where it departs from the publication, and why:

- **Σ_d has a formula.** The publication learns the covariance from patches of images that it shears. For a patch of one
  disparity, what is learned is the covariance of natural images at sheared places, R(y + v d - y' - v' d, x + u d - x'
  - u' d), so that with a law for R there is nothing to learn: no images, and sub-pixel shears are exact. R is a sum of
  Gaussians that follows the power law of natural images (`prior.py`).
- **The camera is exact, too.** The covariances of samples and pixels follow from R and the blur, which may see further
  than the patch; no blur is cut at the patch's border.
- **μ is the mean of the patch**, estimated with the prior itself (its constant part has infinite variance), so that
  constants stay constant.
- **Patches count by how well they are explained.** The average is weighted by 1 / (1 + r / r₀), r the mean square that
  the subspace leaves of a patch: at jumps of the depth no one disparity is right, and of the patches over a pixel those
  that lie on one side of the jump should have the say. `misfit=1000` gives the plain average of the publication.
- **Larger grids go through windows of M x M views**, which overlap; the matrices stay as small as they are.

    params.py     options, what it needs
    kernels.py    every compiled loop
    prior.py      R, the covariances of a patch, subspaces, estimators
    store.py      subspaces, kept from run to run, on disk
    method.py     all of it
"""

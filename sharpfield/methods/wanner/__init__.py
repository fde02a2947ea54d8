"""Wanner and Goldluecke: every view from all views, projected into it along its disparities.

For every view i

    minimise   λ Σₚ |∇u(p)| + ½ Σⱼ Σₓ mᵢⱼ(x) ((S B u)(x + (j - i) dⱼ(x)) - vⱼ(x))²    over 0 <= u <= 1,

x the samples of view j, vⱼ what it shows there, dⱼ(x) their disparity, S B the camera, mᵢⱼ(x) in [0, 1] how much
the sample may say: S. Wanner and B. Goldluecke, Spatial and angular variational super-resolution of 4D light fields,
ECCV 2012, from the publication alone. First the disparities, once and for all views: the structure tensor of the
horizontal and of the vertical epipolar images through a sample tells the direction in which the image does not
change, and how sure that is (coherence); the more coherent of the two is kept, those outside the range are dropped,
and weighted total variation smooths the map and fills it.

Where it departs from the publication, and why:

- **Sheared epipolar images.** A structure tensor resolves disparities well below a pixel between adjacent views. Here
  the epipolar images are sheared by steps of a fraction of a pixel over the whole range, and the most coherent shear is
  kept with the small rest that its tensor measures. Without it, disparities beyond a pixel are lost, and where the
  views are undersampled, as they are here, smaller ones are biased.
- **Tensors are averaged over y, too**, not in the plane of the epipolar image alone: five views are few.
- **One disparity a sample.** The publication warps the high-resolution image; here a sample's whole footprint
  moves by the disparity at its middle, so that the blur commutes with the warp and all views together are one
  matrix of 7 x 7 neighbours, for every camera (`projection.py`). An iteration costs the same for any number of views.
- **mᵢⱼ is soft, and looks at the light as well.** In the publication it is 0 or 1. Here it falls with the difference of
  the two disparities where the sample lands (occlusion), with the gradient of the disparity (there the footprint
  is stretched or folded), and with the difference between the sample and the view that it lands in: at outlines
  the disparity of the nearer surface reaches beyond it in all views alike, so that the disparities agree where the
  light does not. docs/methods.md has the figures without.
- **Luma alone**, as all methods here; 0 <= u <= 1 is added to the problem; TV-L1 rather than TV-L2 on disparities.
- **Diagonal majorizer.** FISTA with a step for every pixel instead of one: the minimiser is the same.

    params.py        options, what it needs
    kernels.py       every compiled loop
    disparity.py     structure tensors of sheared epipolar images -> disparity, coherence -> TV
    projection.py    samples of all views in one view: weights, normal equations
    variational.py   TV-L1 of disparities, FISTA with TV for a view
    method.py        all of it
"""

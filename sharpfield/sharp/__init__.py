"""Our own method, past the paper: every view from the samples of all views, at sub-pixel disparities.

For every view i

    minimise   Σⱼ Σₓ wᵢⱼ(x) ((S B uᵢ)(x + (pⱼ - pᵢ) dⱼ(x)) - vⱼ(x))² + Σ_D λ_D Σₚ φ_D((D uᵢ)(p)),

x the samples of view j, vⱼ what it shows there, dⱼ(x) their disparity, pⱼ - pᵢ the step on the grid between the
views, S B the camera, wᵢⱼ(x) in [0, 1] how much the sample may say, D second differences along four directions and,
where there is noise, first differences along two, φ(t) = 2 k² (sqrt(1 + (t / k)²) - 1). In stages: weights from the
residuals of the current estimate, with a scale that shrinks; disparities moved to where the residuals are least; every
view anew.

    params.py        SharpParams: every number; what it needs for a light field
    kernels.py       every compiled loop
    calibrate.py     Placement: where the views stand; small translations of single views; the range of the scene
    disparity/       a sweep over sheared views; a step of their refinement
    confidence.py    noise of the views; how much each sample may say about another view
    problem.py       normal equations of one view: data and prior, applied without forming the matrix
    method.py        all of it, and the only file that names all of the above
"""

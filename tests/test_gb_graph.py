"""The graph: mutual edges as the twin finds them, W symmetric, L a Laplacian."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sharpfield.gb.graph import Graph, build_graph
from sharpfield.gb.params import GBParams
from sharpfield.parallel import Workers

ALONE = Workers(1)


def flat_views(views: np.ndarray) -> np.ndarray:
    """Views (v, u, y, x) as the package takes them: (n, y, x) float32."""
    return np.ascontiguousarray(views.reshape(-1, *views.shape[2:]), np.float32)


def graph_matrix(graph: Graph, size: tuple[int, int]) -> sparse.csr_array:
    """W, assembled from the lists of edges."""
    pixels = size[0] * size[1]
    rows, columns, weights = [], [], []
    for view, lists in enumerate(graph.edges):
        for edges in lists:
            slot, y, x = np.nonzero(edges.weight)
            pixel = y * size[1] + x
            other = pixel + edges.offsets[edges.code[slot, y, x]]
            assert ((other >= 0) & (other < pixels)).all()
            rows.append(view * pixels + pixel)
            columns.append(edges.source * pixels + other)
            weights.append(edges.weight[slot, y, x].astype(np.float64))
    total = len(graph.edges) * pixels
    if not rows:
        return sparse.csr_array((total, total))
    entries = (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_array(entries, shape=(total, total))


def graph_of(views: np.ndarray, **params) -> Graph:
    return build_graph(flat_views(views), views.shape[:2], GBParams(**params), ALONE)


@pytest.mark.parametrize(
    ("grid", "size", "disparity"),
    [
        ((3, 3), (13, 16), (-6, 6)),
        ((3, 2), (15, 11), (-2, 4)),
        ((2, 3), (12, 17), (2, 5)),
        ((1, 4), (14, 15), (-6, 6)),
        ((3, 1), (11, 18), (0, 1)),
        ((2, 2), (9, 8), (-12, 11)),
    ],
)
def test_w_is_the_twins(grid, size, disparity):
    views = naive.two_planes(grid, size, seed=3).astype(np.float32)
    ours = graph_matrix(graph_of(views, disparity=disparity), size)
    twin = naive.adjacency(views, *disparity)
    assert twin.nnz > views.size  # the scene is a light field: there are edges to compare
    # two candidates may be nearer to each other than a key can tell; else the edges are the same
    assert ((ours != 0) != (twin != 0)).sum() <= 4
    common = (ours != 0) * (twin != 0)
    assert abs((ours - twin) * common).max() < 2e-5


def test_w_of_structured_views_keeps_weights_exactly():
    # stripes: most candidates tie, so which edges stay is open; their weights and symmetry are not
    views = np.broadcast_to((np.arange(17) % 4 < 2) * 0.6 + 0.2, (3, 3, 12, 17)).astype(np.float32)
    w = graph_matrix(graph_of(views), (12, 17))
    assert abs(w - w.T).max() == 0
    inside = w.data[w.data > 0.9]
    assert inside.size > 0
    assert inside == pytest.approx(1, abs=1e-6)


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(3, 11), st.integers(3, 11)),
    st.integers(-7, 5),
    st.integers(1, 7),
    st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_w_is_symmetric_and_l_a_laplacian(grid, size, low, span, seed):
    views = np.random.default_rng(seed).random((*grid, *size), np.float32)
    graph = graph_of(views, disparity=(low, low + span), patch=3)
    w = graph_matrix(graph, size)
    assert (w != w.T).nnz == 0  # to the last bit
    assert w.diagonal().sum() == 0
    assert w.size == 0 or w.data.min() >= 0
    assert w.size == 0 or w.data.max() <= 1 + 1e-6

    flat = flat_views(views)
    result = np.zeros_like(flat)
    for view in range(len(flat)):
        graph.add_laplacian(np.ones_like(flat), view, 1.0, result[view])
    assert not result.any()  # L 1 = 0

    image = np.random.default_rng(seed + 1).standard_normal(flat.shape).astype(np.float32)
    for view in range(len(flat)):
        graph.add_laplacian(image, view, 0.5, result[view])
    twin = naive.laplacian(w) @ image.ravel().astype(np.float64)
    assert result.ravel() == pytest.approx(0.5 * twin, abs=2e-5)
    energy = graph.energy(image)
    assert energy == pytest.approx(image.ravel() @ twin, abs=1e-3)
    assert energy >= -1e-5 * float((image**2).sum())  # L is positive semi-definite


def test_energy_is_half_the_sum_over_edges():
    views = naive.two_planes((2, 3), (12, 13), seed=1).astype(np.float32)
    graph = graph_of(views)
    w = graph_matrix(graph, (12, 13)).tocoo()
    u = views.ravel().astype(np.float64)
    total = 0.5 * sum(weight * (u[i] - u[j]) ** 2 for i, j, weight in zip(w.row, w.col, w.data, strict=True))
    assert graph.energy(flat_views(views)) == pytest.approx(total, rel=1e-4)


def test_a_pixel_has_at_most_two_edges_to_a_view_beside_and_four_to_a_corner():
    views = np.random.default_rng(0).random((3, 3, 10, 12), np.float32)
    graph = graph_of(views)
    assert [len(lists) for lists in graph.edges] == [3, 5, 3, 5, 8, 5, 3, 5, 3]
    for view, lists in enumerate(graph.edges):
        assert len({edges.source for edges in lists}) == len(lists)
        for edges in lists:
            beside = abs(view // 3 - edges.source // 3) + abs(view % 3 - edges.source % 3) == 1
            assert edges.adjacent == beside
            assert len(edges.weight) == (2 if beside else 4)


def test_edges_follow_the_disparity():
    views = naive.texture_plane((3, 3), (20, 20), 2, seed=2).astype(np.float32)
    graph = graph_of(views, disparity=(-3, 5))
    for edges in graph.edges[4]:
        down, right = edges.source // 3 - 1, edges.source % 3 - 1
        strongest = edges.offsets[edges.code[0, 8:-8, 8:-8]]
        assert (strongest == -2 * down * 20 - 2 * right).all()
        assert edges.weight[0, 8:-8, 8:-8] == pytest.approx(1, abs=1e-6)


def test_one_view_has_no_edges():
    graph = graph_of(np.random.default_rng(0).random((1, 1, 8, 8), np.float32))
    assert graph.edges == [[]]
    assert graph.energy(np.ones((1, 8, 8), np.float32)) == 0


def test_a_wide_window_takes_two_byte_codes():
    views = naive.two_planes((2, 2), (16, 18), seed=5).astype(np.float32)
    narrow, wide = graph_of(views, disparity=(-7, 8)), graph_of(views, disparity=(-8, 8))
    assert {edges.code.dtype for edges in narrow.edges[0]} == {np.dtype(np.uint8)}
    assert {edges.code.dtype for edges in wide.edges[0] if not edges.adjacent} == {np.dtype(np.uint16)}
    twin = naive.adjacency(views, -8, 8)
    assert ((graph_matrix(wide, (16, 18)) != 0) != (twin != 0)).sum() <= 8


def test_threads_do_not_change_a_bit_and_progress_counts_the_pairs():
    views = flat_views(naive.two_planes((3, 3), (14, 15), seed=1))
    alone, events = build_graph(views, (3, 3), GBParams(), ALONE), []
    for threads in (2, 3):
        with Workers(threads) as workers:
            graph = build_graph(views, (3, 3), GBParams(), workers, events.append)
        for ours, theirs in zip(alone.edges, graph.edges, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                assert one.source == other.source
                assert np.array_equal(one.code, other.code)
                assert np.array_equal(one.weight, other.weight)
    assert len(events) == 2 * 20
    assert max(event.fraction for event in events) == 1


def test_a_graph_written_over_an_older_one_is_a_new_one():
    size, grid, workers = (14, 15), (3, 2), ALONE
    before, views = (flat_views(naive.two_planes(grid, size, seed=seed)) for seed in (1, 2))
    new = build_graph(views, grid, GBParams(), workers)
    replaced = build_graph(before, grid, GBParams(), workers)
    over = build_graph(views, grid, GBParams(), workers, replaced=replaced)
    for ours, theirs, old in zip(over.edges, new.edges, replaced.edges, strict=True):
        for one, other, first in zip(ours, theirs, old, strict=True):
            assert (one.source, one.adjacent) == (other.source, other.adjacent)
            assert np.array_equal(one.offsets, other.offsets)
            assert np.array_equal(one.code, other.code)
            assert np.array_equal(one.weight, other.weight)
            assert one.weight is first.weight  # and takes no memory of its own

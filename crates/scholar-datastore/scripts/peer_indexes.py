"""Measures FAISS, hnswlib and usearch on the vectors of `openscholar bench index`, one thread for queries.

usage: peer_indexes.py ROWS HEADER_BYTES DIM QUERIES TRUTH TOP_K LISTS THREADS PEERS

ROWS: file of float16 rows after HEADER_BYTES bytes. QUERIES: float32 rows. TRUTH: uint32 rows of TOP_K ids.
Prints one JSON object per line: {"engine", "setting", "build_s", "bytes_per_vector", "recall", "p50_ms", "p99_ms"}.
"""

import json
import sys
import time

import numpy as np

rows_path, header, dim, queries_path, truth_path, top_k, lists, threads, peers = sys.argv[1:10]
header, dim, top_k, lists, threads = int(header), int(dim), int(top_k), int(lists), int(threads)
rows = np.memmap(rows_path, dtype="<f2", mode="r", offset=header).reshape(-1, dim)
queries = np.fromfile(queries_path, dtype="<f4").reshape(-1, dim)
truth = np.fromfile(truth_path, dtype="<u4").reshape(-1, top_k)
CHUNK = 100_000
# From so many lists on, FAISS finds a row's list by a graph over them, as it is run at that size: comparing every row with
# every list would take hours.
GRAPH_LISTS = 8_192


def chunks():
    for start in range(0, len(rows), CHUNK):
        yield start, rows[start : start + CHUNK].astype(np.float32)


def report(engine, setting, build_s, size, search):
    times, hits = [], 0
    search(queries[0])
    for query, expect in zip(queries, truth):
        start = time.perf_counter()
        found = search(query)
        times.append((time.perf_counter() - start) * 1e3)
        hits += len(set(found.tolist()) & set(expect.tolist()))
    line = {
        "engine": engine,
        "setting": setting,
        "build_s": build_s,
        "bytes_per_vector": size / len(rows),
        "recall": hits / truth.size,
        "p50_ms": float(np.percentile(times, 50)),
        "p99_ms": float(np.percentile(times, 99)),
    }
    print(json.dumps(line), flush=True)


def faiss_rabitq():
    import faiss

    class_ = getattr(faiss, "IndexIVFRaBitQFastScan", None) or faiss.IndexIVFRaBitQ
    name = f"faiss {faiss.__version__} {class_.__name__[5:]}"
    faiss.omp_set_num_threads(threads)
    start = time.perf_counter()
    if lists < GRAPH_LISTS:
        quantizer = faiss.IndexFlatIP(dim)
        base = class_(quantizer, dim, lists, faiss.METRIC_INNER_PRODUCT)
    else:
        name += ", lists by HNSW"
        quantizer, assigner = (faiss.IndexHNSWFlat(dim, 32, faiss.METRIC_INNER_PRODUCT) for _ in range(2))
        base = class_(quantizer, dim, lists, faiss.METRIC_INNER_PRODUCT)
        base.clustering_index = assigner
    # As ours: 64 rows per list train the lists.
    sample = np.random.default_rng(1).choice(len(rows), min(len(rows), lists * 64), replace=False)
    sample.sort()
    base.train(rows[sample].astype(np.float32))
    for _, part in chunks():
        base.add(part)
    build = time.perf_counter() - start
    size = base.sa_code_size() if hasattr(base, "sa_code_size") else base.code_size
    size = (size + 8) * len(rows) + lists * dim * 4
    faiss.omp_set_num_threads(1)

    def search(query, candidates):
        query = query.reshape(1, -1)
        _, ids = base.search(query, candidates)
        ids = ids[0][ids[0] >= 0]
        # Exact scores from the same float16 rows on disk, as ours.
        exact = rows[np.sort(ids)].astype(np.float32) @ query[0]
        best = np.argpartition(-exact, min(top_k, len(ids)) - 1)[:top_k]
        return np.sort(ids)[best]

    def bare(query, candidates):
        return base.search(query.reshape(1, -1), candidates)[1][0][:top_k]

    for probes in (8, 16, 32, 64, 128, 256, 512):
        if probes > lists:
            continue
        base.nprobe = probes
        for factor in (2, 4, 8):
            setting = f"nprobe {probes}, {factor * top_k} rescored in NumPy"
            report(name, setting, build, size, lambda query: search(query, factor * top_k))
        # The time without rescoring: a lower bound, whoever rescored.
        report(name + " (codes only)", f"nprobe {probes}", build, size, lambda query: bare(query, 4 * top_k))


def faiss_flat():
    import faiss

    faiss.omp_set_num_threads(1)
    start = time.perf_counter()
    index = faiss.IndexFlatIP(dim)
    for _, part in chunks():
        index.add(part)
    build = time.perf_counter() - start
    report("faiss flat", "exact", build, dim * 4 * len(rows), lambda query: index.search(query.reshape(1, -1), top_k)[1][0])


def hnsw():
    import hnswlib

    index = hnswlib.Index(space="ip", dim=dim)
    index.init_index(max_elements=len(rows), M=16, ef_construction=200)
    index.set_num_threads(threads)
    start = time.perf_counter()
    for first, part in chunks():
        index.add_items(part, np.arange(first, first + len(part)))
    build = time.perf_counter() - start
    index.set_num_threads(1)
    size = (dim * 4 + 16 * 2 * 4 * 1.1) * len(rows)
    for ef in (100, 150, 200, 300, 500):
        index.set_ef(ef)
        report("hnswlib M 16, ef 200", f"ef {ef}", build, size, lambda query: index.knn_query(query, top_k)[0][0])


def usearch():
    from usearch.index import Index

    index = Index(ndim=dim, metric="ip", dtype="i8", connectivity=16, expansion_add=200)
    start = time.perf_counter()
    for first, part in chunks():
        index.add(np.arange(first, first + len(part)), part, threads=threads)
    build = time.perf_counter() - start
    for expansion in (200, 400, 800):
        index.expansion_search = expansion

        def search(query):
            ids = np.sort(index.search(query, 3 * top_k, threads=1).keys.astype(np.int64))
            exact = rows[ids].astype(np.float32) @ query
            return ids[np.argpartition(-exact, min(top_k, len(ids)) - 1)[:top_k]]

        report("usearch i8", f"expansion {expansion}, {3 * top_k} rescored in NumPy", build, index.memory_usage, search)


known = {"faiss": faiss_rabitq, "faiss-flat": faiss_flat, "hnswlib": hnsw, "usearch": usearch}
for peer in peers.split(","):
    try:
        known[peer]()
    except Exception as error:  # One peer that is missing must not hide the others.
        print(json.dumps({"engine": peer, "error": f"{type(error).__name__}: {error}"}), flush=True)

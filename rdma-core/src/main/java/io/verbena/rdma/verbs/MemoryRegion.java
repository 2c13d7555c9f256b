package io.verbena.rdma.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Registered memory ({@code struct ibv_mr}). Keeps its memory alive until closed. After {@link #close()} returns no
 * remote access through this region's keys lands; whoever closes must have no local request in flight on it. The
 * accessors may be called by any thread.
 */
public interface MemoryRegion extends AutoCloseable
{
    /** @return the memory, {@link #lengthBytes()} long; access by several threads needs the usual ordering. */
    MemorySegment segment();

    /** @return address of the first byte, in the owner's terms: what peers give as remote address. */
    long address();

    /** @return bytes registered; may exceed 2 GiB. */
    long lengthBytes();

    /** @return key for local use ({@code lkey}). */
    int localKey();

    /** @return key to hand to peers ({@code rkey}). */
    int remoteKey();

    /** @return rights, see {@link AccessFlags}. */
    int accessFlags();

    @Override
    void close();
}

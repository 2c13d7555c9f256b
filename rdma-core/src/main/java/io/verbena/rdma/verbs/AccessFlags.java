package io.verbena.rdma.verbs;

/** Rights of a memory region or a queue pair; bit values of {@code enum ibv_access_flags}. */
public final class AccessFlags
{
    /**
     * The device may write the region on behalf of its owner: needed for READ targets, atomics results and receives.
     */
    public static final int LOCAL_WRITE = 1;
    /** Peers may WRITE; on a region it requires {@link #LOCAL_WRITE}. */
    public static final int REMOTE_WRITE = 1 << 1;
    /** Peers may READ. */
    public static final int REMOTE_READ = 1 << 2;
    /** Peers may CMP_SWAP and FETCH_ADD; on a region it requires {@link #LOCAL_WRITE}. */
    public static final int REMOTE_ATOMIC = 1 << 3;
    /** Memory windows may be bound to the region. */
    public static final int MW_BIND = 1 << 4;
    /** A window's addresses begin at 0 instead of at the region's address. */
    public static final int ZERO_BASED = 1 << 5;
    /** Every right a peer can have, and the local write right these need. */
    public static final int ALL_REMOTE = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

    private AccessFlags()
    {
    }
}

package io.verbena.rdma.verbs;

/** What completed; values of {@code enum ibv_wc_opcode}. Valid only with status SUCCESS. */
public final class WorkCompletionOpcode
{
    public static final int SEND = 0;
    public static final int RDMA_WRITE = 1;
    public static final int RDMA_READ = 2;
    public static final int COMP_SWAP = 3;
    public static final int FETCH_ADD = 4;
    /** BIND_MW. */
    public static final int BIND_MW = 5;
    /** LOCAL_INV. */
    public static final int LOCAL_INV = 6;
    /** A receive consumed by any kind of SEND. */
    public static final int RECV = 1 << 7;
    /** A receive consumed by WRITE_WITH_IMM. */
    public static final int RECV_RDMA_WITH_IMM = RECV + 1;

    private WorkCompletionOpcode()
    {
    }
}

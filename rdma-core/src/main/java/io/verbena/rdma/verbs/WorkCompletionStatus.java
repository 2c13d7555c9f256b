package io.verbena.rdma.verbs;

/** Outcome of a work request; values and order of {@code enum ibv_wc_status}. */
public final class WorkCompletionStatus
{
    public static final int SUCCESS = 0;
    public static final int LOC_LEN_ERR = 1;
    public static final int LOC_QP_OP_ERR = 2;
    public static final int LOC_EEC_OP_ERR = 3;
    public static final int LOC_PROT_ERR = 4;
    public static final int WR_FLUSH_ERR = 5;
    public static final int MW_BIND_ERR = 6;
    public static final int BAD_RESP_ERR = 7;
    public static final int LOC_ACCESS_ERR = 8;
    public static final int REM_INV_REQ_ERR = 9;
    public static final int REM_ACCESS_ERR = 10;
    public static final int REM_OP_ERR = 11;
    public static final int RETRY_EXC_ERR = 12;
    public static final int RNR_RETRY_EXC_ERR = 13;
    public static final int LOC_RDD_VIOL_ERR = 14;
    public static final int REM_INV_RD_REQ_ERR = 15;
    public static final int REM_ABORT_ERR = 16;
    public static final int INV_EECN_ERR = 17;
    public static final int INV_EEC_STATE_ERR = 18;
    public static final int FATAL_ERR = 19;
    public static final int RESP_TIMEOUT_ERR = 20;
    public static final int GENERAL_ERR = 21;

    private static final String[] TEXT = {
        "success", "local length error", "local QP operation error", "local EE context operation error",
        "local protection error", "work request flushed", "memory window bind error", "bad response",
        "local access error", "remote invalid request", "remote access error", "remote operation error",
        "transport retry counter exceeded", "RNR retry counter exceeded", "local RDD violation",
        "remote invalid RD request", "remote aborted", "invalid EE context number", "invalid EE context state",
        "fatal error", "response timeout", "general error" };

    private WorkCompletionStatus()
    {
    }

    /**
     * Human text of a status, as {@code ibv_wc_status_str}.
     *
     * @param status any value; an unknown one is printed as a number.
     * @return the text.
     */
    public static String text(final int status)
    {
        return status >= 0 && status < TEXT.length ? TEXT[status] : "unknown status " + status;
    }
}

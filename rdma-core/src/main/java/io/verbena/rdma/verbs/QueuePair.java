package io.verbena.rdma.verbs;

/**
 * A reliable connected queue pair ({@code struct ibv_qp}). Requests are staged between {@link #begin()} and
 * {@link #complete()} in the style of {@code ibv_wr_start … ibv_wr_complete}: one {@code complete()} is one doorbell.
 *
 * <p>Requests of one queue pair execute at the responder in posting order; completions come in posting order. A WRITE,
 * READ or atomic posted after another one sees it executed, except that a WRITE or SEND after a READ or atomic may
 * start before the READ's data has arrived unless {@link SendFlags#FENCE} is set, and
 * a READ after an atomic may where {@link DeviceAttributes#readAfterAtomicNeedsFence()} says so. No order holds across
 * queue pairs.
 *
 * <p>Thread-safety: one owner thread posts, and polls both completion queues. State may be read by anyone. Closed by
 * its creator; after {@link #close()} returns on either side, no access through this queue pair lands in the memory
 * of the closing side.
 */
public interface QueuePair extends AutoCloseable
{
    /** @return the queue pair number, unique on its device while open, 24 bits. */
    int number();

    /** @return the current state. */
    QueuePairState state();

    /** @return how many more requests the send queue takes; grows when a signalled completion is polled. */
    int sendQueueSpace();

    /**
     * Opens a batch; must be followed by {@link #complete()} or {@link #abort()} on the same thread. A staging call
     * that throws (a negative or too long length, unknown flags, INLINE where it cannot be) stages nothing and leaves
     * the batch open.
     */
    void begin();

    /**
     * Stages READ: remote bytes into local memory.
     *
     * @param wrId          comes back in the completion.
     * @param flags         see {@link SendFlags}.
     * @param localAddress  first byte of the target, inside the region of {@code localKey} (LOCAL_WRITE needed).
     * @param lengthBytes   0 to the device's maximum message length; 0 checks neither key nor address.
     * @param localKey      key of the local region.
     * @param remoteAddress first byte at the peer.
     * @param remoteKey     key of the peer's region.
     */
    void read(
        long wrId, int flags, long localAddress, int lengthBytes, int localKey, long remoteAddress, int remoteKey);

    /** Stages WRITE: local bytes into remote memory; parameters as in {@link #read}. */
    void write(
        long wrId, int flags, long localAddress, int lengthBytes, int localKey, long remoteAddress, int remoteKey);

    /** Stages WRITE_WITH_IMM: as WRITE, then consumes a receive of the peer, whose completion carries the immediate. */
    void writeWithImmediate(
        long wrId,
        int flags,
        long localAddress,
        int lengthBytes,
        int localKey,
        long remoteAddress,
        int remoteKey,
        int immediate);

    /**
     * Stages CMP_SWAP on an 8-byte aligned remote word; the value found there lands in the local word (8 bytes,
     * LOCAL_WRITE needed), so equality with {@code expected} tells success.
     */
    void compareSwap(
        long wrId,
        int flags,
        long localAddress,
        int localKey,
        long remoteAddress,
        int remoteKey,
        long expected,
        long desired);

    /** Stages FETCH_ADD on an 8-byte aligned remote word; the value found there lands in the local word. */
    void fetchAdd(
        long wrId, int flags, long localAddress, int localKey, long remoteAddress, int remoteKey, long addend);

    /** Stages SEND: consumes a receive of the peer and fills its buffer. */
    void send(long wrId, int flags, long localAddress, int lengthBytes, int localKey);

    /** Stages SEND_WITH_IMM: as SEND; the receive's completion carries the immediate (same int value on both sides). */
    void sendWithImmediate(long wrId, int flags, long localAddress, int lengthBytes, int localKey, int immediate);

    /**
     * Posts everything staged since {@link #begin()} with one doorbell.
     *
     * @return {@link PostStatus#OK}, or a negative {@link PostStatus}: then nothing of the batch was posted.
     */
    int complete();

    /** Drops everything staged since {@link #begin()}. */
    void abort();

    /**
     * Posts a receive buffer for an incoming SEND or WRITE_WITH_IMM.
     *
     * @param wrId         comes back in the completion.
     * @param localAddress first byte of the buffer.
     * @param lengthBytes  capacity; a longer SEND fails both sides (LOC_LEN_ERR here, REM_INV_REQ_ERR there).
     * @param localKey     key of the local region, LOCAL_WRITE needed.
     * @return {@link PostStatus}.
     */
    int postReceive(long wrId, long localAddress, int lengthBytes, int localKey);

    /** @return counts of what was posted on this queue pair since its creation; read by the owner thread. */
    VerbCounters counters();

    /**
     * Moves to ERR: everything outstanding is flushed with WR_FLUSH_ERR, which later polls deliver; inbound requests
     * are dropped from then on. Without effect in RESET.
     */
    void moveToError();

    /**
     * Destroys the queue pair; its state is RESET from then on. Outstanding requests produce no more completions, and
     * those not polled yet are dropped. Returns only when no inbound access can land any more. Called by the owner
     * thread.
     */
    @Override
    void close();
}

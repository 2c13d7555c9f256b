package io.verbena.rdma.verbs;

/**
 * A queue pair ({@code struct ibv_qp}) of one of the {@link QueuePairType}s. Requests are staged between
 * {@link #begin()} and {@link #complete()} in the style of {@code ibv_wr_start … ibv_wr_complete}: one
 * {@code complete()} is one doorbell.
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

    /** @return the transport service. */
    default QueuePairType type()
    {
        return QueuePairType.RC;
    }

    /** @return how messages travel to the connected peer, such as {@code shared-memory}; {@code none} before. */
    default String transport()
    {
        return "none";
    }

    /**
     * Changes attributes, the state above all ({@code ibv_modify_qp}); the connection service does the same steps by
     * itself. What each transition needs and allows is the table of the manual page.
     *
     * @param attributes those set count. When any is wrong or missing, nothing changes.
     * @throws RdmaException naming the attribute and the transition.
     */
    default void modify(final QueuePairAttributes attributes)
    {
        throw new UnsupportedVerbException("changing queue pair states", toString());
    }

    /**
     * Reads all attributes ({@code ibv_query_qp}).
     *
     * @param attributes overwritten; those that have a value are set.
     */
    default void query(final QueuePairAttributes attributes)
    {
        throw new UnsupportedVerbException("querying queue pairs", toString());
    }

    /** @return the current state. */
    QueuePairState state();

    /**
     * @return how many more requests the send queue takes; grows when a completion of a send is polled, by all that was
     *     posted up to there.
     */
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
     * LOCAL_WRITE needed), so equality with {@code expected} means success.
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

    /** Stages SEND_WITH_INV: as SEND; the peer's window of this key is unbound before its receive completes. */
    default void sendWithInvalidate(
        final long wrId,
        final int flags,
        final long localAddress,
        final int lengthBytes,
        final int localKey,
        final int remoteKey)
    {
        throw new UnsupportedVerbException("SEND_WITH_INV", toString());
    }

    /**
     * Stages BIND_MW. Ordered before what follows on this queue pair, so that the key may be sent right behind it.
     * Fails with MW_BIND_ERR when the region lacks {@link AccessFlags#MW_BIND}, or {@link AccessFlags#LOCAL_WRITE}
     * where the window shall allow WRITE or atomics, when the bounds are not inside it, and when the window is bound
     * already; a length of 0 unbinds.
     *
     * @param wrId        comes back in the completion.
     * @param flags       see {@link SendFlags}.
     * @param window      of this domain.
     * @param remoteKey   {@link MemoryWindow#nextRemoteKey()}.
     * @param region      of this domain; stays open while bound.
     * @param address     first byte, inside the region.
     * @param lengthBytes of the window.
     * @param accessFlags remote rights, and {@link AccessFlags#ZERO_BASED}.
     */
    default void bindMemoryWindow(
        final long wrId,
        final int flags,
        final MemoryWindow window,
        final int remoteKey,
        final MemoryRegion region,
        final long address,
        final long lengthBytes,
        final int accessFlags)
    {
        throw new UnsupportedVerbException("BIND_MW", toString());
    }

    /** Stages LOCAL_INV: unbinds the window of this key; no access through it lands once that has completed. */
    default void localInvalidate(final long wrId, final int flags, final int remoteKey)
    {
        throw new UnsupportedVerbException("LOCAL_INV", toString());
    }

    /**
     * Adds a place to the request staged last, a SEND, WRITE or READ of any kind: its payload is gathered from, or
     * scattered to, the places in the order in which they were given, and its length is their sum. Of INLINE the bytes
     * are taken now. Checked as the first place is, when the request is executed: one bad key fails it as a whole with
     * LOC_PROT_ERR; of a READ, or of a message of several packets, the bytes before that place may have been moved.
     *
     * @param localAddress first byte of the place.
     * @param lengthBytes  0 or more; 0 checks neither key nor address, and still counts as a place.
     * @param localKey     key of the local region.
     * @throws RdmaException when no such request is staged, when it has
     *     {@link QueuePairCapabilities#maxSendSegments()} places, or would be longer than a message or an INLINE
     *     payload may be; the request is then as it was before.
     */
    default void addSegment(final long localAddress, final int lengthBytes, final int localKey)
    {
        throw new UnsupportedVerbException("several segments of a request", toString());
    }

    /**
     * UD: addresses the request staged last, as each one must be.
     *
     * @param handle          way to the device.
     * @param queuePairNumber there.
     * @param qkey            that the queue pair there expects.
     */
    default void toQueuePair(final AddressHandle handle, final int queuePairNumber, final int qkey)
    {
        throw new UnsupportedVerbException("addressing a datagram", toString());
    }

    /**
     * DC: addresses the request staged last, as each one must be. An initiator serves one target at a time; the first
     * request for another one waits until all before have completed.
     *
     * @param handle    way to the device.
     * @param number    {@link DcTarget#number()} there.
     * @param accessKey that the target expects.
     */
    default void toDcTarget(final AddressHandle handle, final int number, final long accessKey)
    {
        throw new UnsupportedVerbException("addressing a DC target", toString());
    }

    /**
     * Tells that a request to this remote memory will likely be staged soon. A provider that executes requests with
     * this processor may bring the lines near meanwhile; without effect otherwise. No request: nothing is checked,
     * counted or answered.
     *
     * @param remoteAddress first byte, in the peer's terms.
     * @param lengthBytes   that will be needed.
     * @param remoteKey     key of the remote region; of none, or of one that is closed, does no harm.
     */
    default void preload(final long remoteAddress, final int lengthBytes, final int remoteKey)
    {
        // where a device executes requests, nothing here would help it
    }

    /**
     * Posts everything staged since {@link #begin()} with one doorbell.
     *
     * @return {@link PostStatus#OK}, or a negative {@link PostStatus}: then nothing of the batch was posted.
     * @throws RdmaException when no batch is open, a request of UD or DC was not addressed, or, on some providers, an
     *     address handle, window or region that a request names was closed since: nothing was posted.
     */
    int complete();

    /** Drops everything staged since {@link #begin()}. */
    void abort();

    /**
     * Posts a receive buffer for an incoming SEND or WRITE_WITH_IMM.
     *
     * @param wrId         comes back in the completion.
     * @param localAddress first byte of the buffer.
     * @param lengthBytes  capacity, of UD with 40 bytes for the routing header; a longer SEND of RC or DC fails both
     *                     sides (LOC_LEN_ERR here, REM_INV_REQ_ERR there), one of UC or UD is not delivered.
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

package io.verbena.protocol.request;

/**
 * One operation on one record. The submitter fills the question, hands the request over with
 * {@link ComputeEndpoint#submit}, and reads the answer once the state is DONE. The arrays stay the submitter's; the
 * node reads them only while it starts the operation, before it takes ownership of the request, so a withdrawn
 * request's arrays are never used.
 */
public abstract class OperationRequest extends NodeRequest
{
    private static final long UNKNOWN_NS = Long.MIN_VALUE;

    private RequestKind kind;
    private TableReference table;
    private byte[] key;
    private byte[] value;
    private int keyLength;
    private int valueLength;
    private long operand;
    private long expiry;
    private boolean isInDigits;
    private long deadlineNs;
    private long arrivedNs = UNKNOWN_NS;

    private OperationAnswer answer;
    private byte[] foundValue;
    private int foundLength;
    private long version;
    private long foundExpiryMs;
    private long timeToLiveMs;
    private int verbCount;
    private int roundTripCount;
    private int doorbellCount;
    private String detail;

    /**
     * Fills the question. Allocates nothing.
     *
     * @param kind       what to do.
     * @param table      where.
     * @param key        1 to 64 KiB.
     * @param value      for kinds that write one, else null.
     * @param operand    number that {@link RequestKind.Operand} describes; 0 for kinds that take none.
     * @param deadlineNs on the fabric's clock.
     */
    public final void ask(
        final RequestKind kind, final TableReference table, final byte[] key, final byte[] value,
        final long operand, final long deadlineNs)
    {
        ask(kind, table, key, null == key ? 0 : key.length, value, null == value ? 0 : value.length, operand,
            deadlineNs);
    }

    /** As {@link #ask(RequestKind, TableReference, byte[], byte[], long, long)}, with the first bytes of the arrays. */
    public final void ask(
        final RequestKind kind, final TableReference table, final byte[] key, final int keyLength, final byte[] value,
        final int valueLength, final long operand, final long deadlineNs)
    {
        assert state() == IDLE || state() == DONE : this;
        this.kind = kind;
        this.table = table;
        this.key = key;
        this.keyLength = keyLength;
        this.value = value;
        this.valueLength = valueLength;
        this.operand = operand;
        this.deadlineNs = deadlineNs;
        expiry = RequestExpiry.NONE;
        arrivedNs = UNKNOWN_NS;
        isInDigits = false;
    }

    /**
     * Says which deadline the record gets, for kinds that {@link RequestKind#takesExpiry()}; after {@link #ask}, which
     * says none.
     *
     * @param newExpiry as {@link RequestExpiry} says.
     */
    public final void askExpiry(final long newExpiry)
    {
        expiry = newExpiry;
    }

    /**
     * Records when the request may have arrived at the node, for {@link #waitNs}; after {@link #ask}, which records
     * nothing. By the submitter, and only where it costs nothing to know.
     *
     * @param earliestNs on the fabric's clock: it has not arrived before.
     */
    public final void arrivedAfter(final long earliestNs)
    {
        arrivedNs = earliestNs;
    }

    /**
     * How long the request has waited at the node.
     *
     * @param nowNs on the fabric's clock.
     * @return at most so many nanoseconds, 0 or more; 0 where the submitter recorded no arrival.
     */
    public final long waitNs(final long nowNs)
    {
        return UNKNOWN_NS == arrivedNs ? 0 : Math.max(0, nowNs - arrivedNs);
    }

    /**
     * Says that numbers are digits to the submitter, after {@link #ask}: INCREMENT makes a new counter of digits and
     * takes 8 bytes for a number only where an increment wrote them; GET returns such a counter in digits. Of requests
     * within the process only: messages do not carry it.
     */
    public final void askInDigits()
    {
        isInDigits = true;
    }

    /** @return whether numbers are digits to the submitter. */
    public final boolean isInDigits()
    {
        return isInDigits;
    }

    /** @return which deadline the record gets, as {@link RequestExpiry} says. */
    public final long expiry()
    {
        return expiry;
    }

    /** @return what to do. */
    public final RequestKind kind()
    {
        return kind;
    }

    /** @return where. */
    public final TableReference table()
    {
        return table;
    }

    /** @return when it must be over, on the fabric's clock. */
    public final long deadlineNs()
    {
        return deadlineNs;
    }

    /** @return how it ended; valid when DONE, as all that follows. */
    public final OperationAnswer answer()
    {
        return answer;
    }

    /**
     * By the node, while it owns the request: where a value that was found goes. A submitter that reads one value after
     * the other gives the same array again.
     *
     * @param lengthBytes of the value.
     * @return with that length; or longer, where the submitter takes the length from {@link #foundLength()}.
     */
    public byte[] arrayFor(final int lengthBytes)
    {
        return new byte[lengthBytes];
    }

    /** @return bytes of the value that was found. */
    public final int foundLength()
    {
        return foundLength;
    }

    /** @return for GET and FOUND, and for INCREMENT and STORED, the value, in {@link #arrayFor}; else null. */
    public final byte[] foundValue()
    {
        return foundValue;
    }

    /** @return the version that the answer speaks of, else 0. */
    public final long version()
    {
        return version;
    }

    /**
     * @return for reads, and for EXPIRE, the deadline of the record that the answer speaks of, in ms since 1970; 0 if
     *         it has none, or there is no record.
     */
    public final long foundExpiryMs()
    {
        return foundExpiryMs;
    }

    /** @return how long that deadline was away for the node that answered, 1 or more ms; 0 if there is none. */
    public final long timeToLiveMs()
    {
        return timeToLiveMs;
    }

    /** @return work requests posted for it. */
    public final int verbCount()
    {
        return verbCount;
    }

    /** @return dependent round trips it took. */
    public final int roundTripCount()
    {
        return roundTripCount;
    }

    /** @return doorbells rung for it. */
    public final int doorbellCount()
    {
        return doorbellCount;
    }

    /** @return for answers that are failures one line of facts, else null. */
    public final String detail()
    {
        return detail;
    }

    /** Drops references to the caller's arrays and the result, so that an idle submitter holds none. */
    public final void forget()
    {
        key = null;
        value = null;
        foundValue = null;
        detail = null;
    }

    /** @return the key; for the node, until it has started the request. */
    public final byte[] key()
    {
        return key;
    }

    /** @return the value to write, or null; for the node, until it has started the request. */
    public final byte[] value()
    {
        return value;
    }

    /** @return bytes of the key: the first ones of {@link #key()}. */
    public final int keyLength()
    {
        return keyLength;
    }

    /** @return bytes of the value to write: the first ones of {@link #value()}. */
    public final int valueLength()
    {
        return valueLength;
    }

    /** @return the number that {@link RequestKind.Operand} describes; 0 for kinds that take none. */
    public final long operand()
    {
        return operand;
    }

    /**
     * Fills the answer; by the node, while it owns the request.
     *
     * @param answer     how it ended.
     * @param foundValue for GET and FOUND, and for INCREMENT and STORED, a fresh array; else null.
     * @param version    that the answer speaks of, else 0.
     * @param detail     for failures one line of facts, else null.
     */
    public final void answer(
        final OperationAnswer answer, final byte[] foundValue, final long version, final String detail)
    {
        answer(answer, foundValue, null == foundValue ? 0 : foundValue.length, version, detail);
    }

    /** As {@link #answer(OperationAnswer, byte[], long, String)}, with the first bytes of the array. */
    public final void answer(
        final OperationAnswer answer, final byte[] foundValue, final int foundLength, final long version,
        final String detail)
    {
        this.answer = answer;
        this.foundValue = foundValue;
        this.foundLength = foundLength;
        this.version = version;
        this.detail = detail;
        answerExpiry(0, 0);
        cost(0, 0, 0);
    }

    /**
     * Fills the deadline; after the answer, by the node.
     *
     * @param expiryMs   of the record that the answer speaks of, or 0.
     * @param timeLeftMs until then, or 0.
     */
    public final void answerExpiry(final long expiryMs, final long timeLeftMs)
    {
        foundExpiryMs = expiryMs;
        timeToLiveMs = timeLeftMs;
    }

    /**
     * Fills the cost; after the answer, by the node.
     *
     * @param verbCount      work requests posted.
     * @param roundTripCount dependent round trips.
     * @param doorbellCount  doorbells rung.
     */
    public final void cost(final int verbCount, final int roundTripCount, final int doorbellCount)
    {
        this.verbCount = verbCount;
        this.roundTripCount = roundTripCount;
        this.doorbellCount = doorbellCount;
    }

    @Override
    public String toString()
    {
        return "OperationRequest{kind=" + kind + ", table=" + table + ", state=" + state() + ", answer=" + answer + '}';
    }
}

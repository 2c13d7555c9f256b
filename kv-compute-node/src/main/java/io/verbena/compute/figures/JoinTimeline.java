package io.verbena.compute.figures;

/**
 * When a node reached which step of its first join, on the fabric's clock. Written once each by the node's thread, read
 * by any.
 */
public final class JoinTimeline
{
    private final long beganNs;
    private volatile long openedNs;
    private volatile long registeredNs;
    private volatile long discoveredNs;
    private volatile long connectedNs;
    private volatile long readyNs;
    private volatile long firstClientNs;
    private volatile long firstAnswerNs;

    /** @param beganNs when somebody decided to have the node, before its device was opened. */
    public JoinTimeline(final long beganNs)
    {
        this.beganNs = beganNs;
    }

    /** @return nanoseconds from the beginning until it could serve; -1 before that. */
    public long joinToReadyNs()
    {
        return since(readyNs);
    }

    /** @return nanoseconds from the beginning until its first operation was answered; -1 before that. */
    public long joinToFirstRequestNs()
    {
        return since(firstAnswerNs);
    }

    /** @return nanoseconds from the beginning until its first client was connected; -1 before that. */
    public long joinToFirstClientNs()
    {
        return since(firstClientNs);
    }

    /** @return durations of the steps in microseconds, one line. */
    public String breakdown()
    {
        return "open=" + microseconds(beganNs, openedNs) + "us register=" + microseconds(openedNs, registeredNs) +
            "us discover=" + microseconds(registeredNs, discoveredNs) +
            "us connect=" + microseconds(discoveredNs, connectedNs) +
            "us tables=" + microseconds(connectedNs, readyNs) +
            "us firstRequest=" + microseconds(readyNs, firstAnswerNs) + "us";
    }

    /** Its device and connections were opened. Only the first call of each of these counts. */
    public void opened(final long nowNs)
    {
        openedNs = 0 == openedNs ? nowNs : openedNs;
    }

    /** The meta server has registered it. */
    public void registered(final long nowNs)
    {
        registeredNs = 0 == registeredNs ? nowNs : registeredNs;
    }

    /** It knows the memory nodes and the names of the tables. */
    public void discovered(final long nowNs)
    {
        discoveredNs = 0 == discoveredNs ? nowNs : discoveredNs;
    }

    /** It has tried to reach every memory node, and knows the tables. */
    public void connected(final long nowNs)
    {
        connectedNs = 0 == connectedNs ? nowNs : connectedNs;
    }

    /** It serves. */
    public void ready(final long nowNs)
    {
        readyNs = 0 == readyNs ? nowNs : readyNs;
    }

    /** A client is connected. Only the first call counts. */
    public void firstClient(final long nowNs)
    {
        firstClientNs = 0 == firstClientNs ? nowNs : firstClientNs;
    }

    /** @return whether {@link #firstAnswer} was called. */
    public boolean hasAnswered()
    {
        return 0 != firstAnswerNs;
    }

    /** It has answered its first operation. */
    public void firstAnswer(final long nowNs)
    {
        firstAnswerNs = nowNs;
    }

    private long since(final long instantNs)
    {
        return 0 == instantNs ? -1 : instantNs - beganNs;
    }

    private static long microseconds(final long fromNs, final long toNs)
    {
        return 0 == fromNs || 0 == toNs ? -1 : (toNs - fromNs) / 1000;
    }

    @Override
    public String toString()
    {
        return "JoinTimeline{" + breakdown() + '}';
    }
}

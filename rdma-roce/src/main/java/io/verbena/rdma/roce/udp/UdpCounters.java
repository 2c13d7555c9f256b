package io.verbena.rdma.roce.udp;

/** What a port has counted since it was opened. Written by its thread; others may read values that are a bit old. */
public final class UdpCounters
{
    /** Packets that the kernel took. */
    public long sent;
    /** Calls of {@code sendmmsg}. */
    public long sendCalls;
    /** Messages of these calls: one for each packet, or for a run of packets of one length. */
    public long messages;
    /** Packets handed to the handler. */
    public long received;
    /** Calls of {@code recvmmsg} that brought something. */
    public long receiveCalls;
    /** Packets dropped because they were shorter than any packet or longer than the longest. */
    public long malformed;
    /** Packets handed on that had met congestion. */
    public long congestionMarked;
    /** Packets dropped because the kernel had no memory for them or the interface's queue was full. */
    public long noBuffer;
    /** Flushes that ended early because the socket's send buffer was full; what was left went later. */
    public long waits;
    /** Packets dropped because they are longer than the way to their destination allows. */
    public long tooLong;
    /** Packets dropped because there is no way to their destination, or a firewall of this host refused them. */
    public long unsendable;
    /** Errors that the network or the peer's host reported for packets sent before. */
    public long reportedErrors;

    @Override
    public String toString()
    {
        return "UdpCounters{sent=" + sent + ", sendCalls=" + sendCalls + ", messages=" + messages + ", received=" +
            received + ", receiveCalls=" + receiveCalls + ", malformed=" + malformed + ", congestionMarked=" +
            congestionMarked + ", noBuffer=" + noBuffer + ", waits=" + waits + ", tooLong=" + tooLong +
            ", unsendable=" + unsendable + ", reportedErrors=" + reportedErrors + '}';
    }
}

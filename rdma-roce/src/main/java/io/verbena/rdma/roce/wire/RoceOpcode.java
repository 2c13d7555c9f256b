package io.verbena.rdma.roce.wire;

/**
 * The opcodes of RC, UC, UD and DC, and which headers a packet of each has behind its BTH. An opcode is a transport
 * (upper three bits) and an operation (lower five); {@code docs/format/roce-packet.md}. Pure.
 */
public final class RoceOpcode
{
    /** Transport RC. */
    public static final int RC = 0x00;
    /** Transport UC. */
    public static final int UC = 0x20;
    /** Transport UD. */
    public static final int UD = 0x60;
    /** Transport DC, in the range that the specification leaves to manufacturers: between devices of this project. */
    public static final int DC = 0xE0;
    /** A congestion notification, of no transport: whoever sends on a queue pair shall send less. */
    public static final int CONGESTION_NOTIFICATION = 0x81;
    /** Bits of the transport. */
    public static final int TRANSPORT_MASK = 0xE0;
    /** Bits of the operation. */
    public static final int OPERATION_MASK = 0x1F;

    public static final int SEND_FIRST = 0x00;
    public static final int SEND_MIDDLE = 0x01;
    public static final int SEND_LAST = 0x02;
    public static final int SEND_LAST_WITH_IMMEDIATE = 0x03;
    public static final int SEND_ONLY = 0x04;
    public static final int SEND_ONLY_WITH_IMMEDIATE = 0x05;
    public static final int WRITE_FIRST = 0x06;
    public static final int WRITE_MIDDLE = 0x07;
    public static final int WRITE_LAST = 0x08;
    public static final int WRITE_LAST_WITH_IMMEDIATE = 0x09;
    public static final int WRITE_ONLY = 0x0A;
    public static final int WRITE_ONLY_WITH_IMMEDIATE = 0x0B;
    public static final int READ_REQUEST = 0x0C;
    public static final int READ_RESPONSE_FIRST = 0x0D;
    public static final int READ_RESPONSE_MIDDLE = 0x0E;
    public static final int READ_RESPONSE_LAST = 0x0F;
    public static final int READ_RESPONSE_ONLY = 0x10;
    public static final int ACKNOWLEDGE = 0x11;
    public static final int ATOMIC_ACKNOWLEDGE = 0x12;
    public static final int COMPARE_SWAP = 0x13;
    public static final int FETCH_ADD = 0x14;
    public static final int SEND_LAST_WITH_INVALIDATE = 0x16;
    public static final int SEND_ONLY_WITH_INVALIDATE = 0x17;
    /** DC: an initiator asks a target for a context. */
    public static final int DC_CONNECT = 0x1C;
    /** DC: the answer to DC_CONNECT. */
    public static final int DC_ACCEPT = 0x1D;
    /** DC: an initiator gives its context back; not answered. */
    public static final int DC_RELEASE = 0x1E;

    /** Trait: first packet of its message, or the only one. */
    public static final int BEGINS = 1;
    /** Trait: last packet of its message, or the only one. */
    public static final int ENDS = 1 << 1;
    /** Trait: carries payload, maybe of length 0. */
    public static final int HAS_PAYLOAD = 1 << 2;
    /** Trait: goes from a responder to a requester. */
    public static final int IS_RESPONSE = 1 << 3;
    /** Trait: part of a SEND. */
    public static final int IS_SEND = 1 << 4;
    /** Trait: part of a WRITE. */
    public static final int IS_WRITE = 1 << 5;
    /** Trait: part of a READ response. */
    public static final int IS_READ_RESPONSE = 1 << 6;
    /** Trait: has a {@link RethDescriptor RETH}. */
    public static final int HAS_RETH = 1 << 7;
    /** Trait: has an {@link AtomicEthDescriptor AtomicETH}. */
    public static final int HAS_ATOMIC_ETH = 1 << 8;
    /** Trait: has an {@link AethDescriptor AETH}. */
    public static final int HAS_AETH = 1 << 9;
    /** Trait: has an {@link AtomicAckEthDescriptor AtomicAckETH} behind its AETH. */
    public static final int HAS_ATOMIC_ACK_ETH = 1 << 10;
    /** Trait: has an {@link ImmDtDescriptor ImmDt} as its last header. */
    public static final int HAS_IMMEDIATE = 1 << 11;
    /** Trait: has an {@link IethDescriptor IETH}. */
    public static final int HAS_IETH = 1 << 12;
    /** Trait: has a {@link DethDescriptor DETH} as its first header behind the BTH. */
    public static final int HAS_DETH = 1 << 13;
    /** Trait: a congestion notification, with 16 reserved bytes behind its BTH. */
    public static final int IS_NOTIFICATION = 1 << 14;
    /** Trait: has a {@link DcEthDescriptor DcETH}, before an immediate. */
    public static final int HAS_DC_ETH = 1 << 15;
    /** Trait: has a {@link DcAckEthDescriptor DcAckETH} behind its other headers. */
    public static final int HAS_DC_ACK_ETH = 1 << 16;
    /** Trait: has a {@link DcAcceptEthDescriptor DcAcceptETH} as its last header. */
    public static final int HAS_DC_ACCEPT_ETH = 1 << 17;
    /** No such opcode. */
    public static final int UNKNOWN = 0;

    private static final int NOTIFICATION_BYTES = 16;
    private static final int OPCODES = 256;
    private static final int[] TRAITS = new int[OPCODES];
    private static final int[] HEADER_BYTES = new int[OPCODES];
    private static final int[] DC_OFFSETS = new int[OPCODES];

    static
    {
        final int only = BEGINS | ENDS;
        for (final int transport : new int[] {RC, UC})
        {
            put(transport | SEND_FIRST, BEGINS | HAS_PAYLOAD | IS_SEND);
            put(transport | SEND_MIDDLE, HAS_PAYLOAD | IS_SEND);
            put(transport | SEND_LAST, ENDS | HAS_PAYLOAD | IS_SEND);
            put(transport | SEND_LAST_WITH_IMMEDIATE, ENDS | HAS_PAYLOAD | IS_SEND | HAS_IMMEDIATE);
            put(transport | SEND_LAST_WITH_INVALIDATE, ENDS | HAS_PAYLOAD | IS_SEND | HAS_IETH);
            put(transport | SEND_ONLY, only | HAS_PAYLOAD | IS_SEND);
            put(transport | SEND_ONLY_WITH_IMMEDIATE, only | HAS_PAYLOAD | IS_SEND | HAS_IMMEDIATE);
            put(transport | SEND_ONLY_WITH_INVALIDATE, only | HAS_PAYLOAD | IS_SEND | HAS_IETH);
            put(transport | WRITE_FIRST, BEGINS | HAS_PAYLOAD | IS_WRITE | HAS_RETH);
            put(transport | WRITE_MIDDLE, HAS_PAYLOAD | IS_WRITE);
            put(transport | WRITE_LAST, ENDS | HAS_PAYLOAD | IS_WRITE);
            put(transport | WRITE_LAST_WITH_IMMEDIATE, ENDS | HAS_PAYLOAD | IS_WRITE | HAS_IMMEDIATE);
            put(transport | WRITE_ONLY, only | HAS_PAYLOAD | IS_WRITE | HAS_RETH);
            put(transport | WRITE_ONLY_WITH_IMMEDIATE, only | HAS_PAYLOAD | IS_WRITE | HAS_RETH | HAS_IMMEDIATE);
        }
        put(RC | READ_REQUEST, only | HAS_RETH);
        final int readResponse = HAS_PAYLOAD | IS_RESPONSE | IS_READ_RESPONSE;
        put(RC | READ_RESPONSE_FIRST, BEGINS | readResponse | HAS_AETH);
        put(RC | READ_RESPONSE_MIDDLE, readResponse);
        put(RC | READ_RESPONSE_LAST, ENDS | readResponse | HAS_AETH);
        put(RC | READ_RESPONSE_ONLY, only | readResponse | HAS_AETH);
        put(RC | ACKNOWLEDGE, only | IS_RESPONSE | HAS_AETH);
        put(RC | ATOMIC_ACKNOWLEDGE, only | IS_RESPONSE | HAS_AETH | HAS_ATOMIC_ACK_ETH);
        put(RC | COMPARE_SWAP, only | HAS_ATOMIC_ETH);
        put(RC | FETCH_ADD, only | HAS_ATOMIC_ETH);
        put(UD | SEND_ONLY, only | HAS_PAYLOAD | IS_SEND | HAS_DETH);
        put(UD | SEND_ONLY_WITH_IMMEDIATE, only | HAS_PAYLOAD | IS_SEND | HAS_DETH | HAS_IMMEDIATE);
        put(CONGESTION_NOTIFICATION, only | IS_NOTIFICATION);
        for (int operation = 0; operation <= OPERATION_MASK; operation++)
        {
            final int traits = TRAITS[RC | operation];
            if (traits != UNKNOWN && (traits & HAS_IETH) == 0)
            {
                put(DC | operation, traits | ((traits & IS_RESPONSE) == 0 ? HAS_DC_ETH : HAS_DC_ACK_ETH));
            }
        }
        put(DC | DC_CONNECT, only | HAS_DC_ETH);
        put(DC | DC_ACCEPT, only | IS_RESPONSE | HAS_AETH | HAS_DC_ACK_ETH | HAS_DC_ACCEPT_ETH);
        put(DC | DC_RELEASE, only | HAS_DC_ETH);
    }

    private RoceOpcode()
    {
    }

    /**
     * What a packet of an opcode is and has.
     *
     * @param opcode 0 to 255.
     * @return set of traits, {@link #UNKNOWN} when there is no such opcode.
     */
    public static int traits(final int opcode)
    {
        return TRAITS[opcode];
    }

    /**
     * Where the payload begins.
     *
     * @param opcode 0 to 255, known.
     * @return bytes of the BTH and all headers behind it.
     */
    public static int headerBytes(final int opcode)
    {
        return HEADER_BYTES[opcode];
    }

    /**
     * Where the header lies that DC adds.
     *
     * @param opcode 0 to 255, of DC.
     * @return offset of the {@link DcEthDescriptor DcETH} or {@link DcAckEthDescriptor DcAckETH}.
     */
    public static int dcOffset(final int opcode)
    {
        return DC_OFFSETS[opcode];
    }

    private static void put(final int opcode, final int traits)
    {
        TRAITS[opcode] = traits;
        DC_OFFSETS[opcode] = BthDescriptor.LENGTH_BYTES +
            bytes(traits, IS_NOTIFICATION, NOTIFICATION_BYTES) +
            bytes(traits, HAS_DETH, DethDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_RETH, RethDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_ATOMIC_ETH, AtomicEthDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_AETH, AethDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_ATOMIC_ACK_ETH, AtomicAckEthDescriptor.LENGTH_BYTES);
        HEADER_BYTES[opcode] = DC_OFFSETS[opcode] +
            bytes(traits, HAS_DC_ETH, DcEthDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_DC_ACK_ETH, DcAckEthDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_DC_ACCEPT_ETH, DcAcceptEthDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_IMMEDIATE, ImmDtDescriptor.LENGTH_BYTES) +
            bytes(traits, HAS_IETH, IethDescriptor.LENGTH_BYTES);
    }

    private static int bytes(final int traits, final int trait, final int lengthBytes)
    {
        return (traits & trait) == 0 ? 0 : lengthBytes;
    }
}

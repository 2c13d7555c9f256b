package io.verbena.raas.message;

/**
 * The one layout of the 32-bit immediate that travels with SEND_WITH_IMM and WRITE_WITH_IMM,
 * {@code docs/format/immediate.md}.
 *
 * <pre>
 *  31    28 27                    16 15                            0
 * +--------+------------------------+-------------------------------+
 * |  kind  | generation (low 12 bit)|  slot                         |
 * +--------+------------------------+-------------------------------+
 * </pre>
 *
 * <p>Of a call, the slot is one of the caller, and a reply carries the slot and generation of its request. The full
 * generation stands in the message header; the bits here let a stray reply be recognised without reading memory. Of
 * everything else, slot and generation are those of the receiver's endpoint.
 */
public final class MessageImmediateDescriptor
{
    /** First bit of the call slot. */
    public static final int SLOT_SHIFT = 0;
    /** Width of the call slot. */
    public static final int SLOT_BITS = 16;
    /** First bit of the generation. */
    public static final int GENERATION_SHIFT = SLOT_SHIFT + SLOT_BITS;
    /** Width of the generation. */
    public static final int GENERATION_BITS = 12;
    /** First bit of the kind. */
    public static final int KIND_SHIFT = GENERATION_SHIFT + GENERATION_BITS;
    /** Width of the kind. */
    public static final int KIND_BITS = 4;

    /** Request of a call. */
    public static final int KIND_REQUEST = 1;
    /** Reply to a call. */
    public static final int KIND_REPLY = 2;
    /** Refusal of a call; the payload is UTF-8 text. */
    public static final int KIND_REFUSAL = 3;
    /** Message to an endpoint. */
    public static final int KIND_MESSAGE = 4;
    /** Gives an endpoint credits back; empty. */
    public static final int KIND_CREDIT = 5;
    /** The last that an endpoint hears from its other end; empty. */
    public static final int KIND_CLOSE = 6;
    /** First kind of a WRITE to memory that an endpoint has granted: the user's kind 0. */
    public static final int KIND_WRITE = 8;
    /** How many kinds of WRITEs there are, for the user to tell them apart. */
    public static final int WRITE_KINDS = 8;

    /** Most call slots. */
    public static final int MAX_SLOTS = 1 << SLOT_BITS;

    static
    {
        if (KIND_SHIFT + KIND_BITS != Integer.SIZE || KIND_WRITE + WRITE_KINDS > 1 << KIND_BITS)
        {
            throw new ExceptionInInitializerError("the fields fill " + (KIND_SHIFT + KIND_BITS) + " bits");
        }
    }

    private MessageImmediateDescriptor()
    {
    }

    /**
     * @param kind       of the message.
     * @param generation of the call; its low bits are kept.
     * @param slot       of the caller.
     * @return the immediate.
     */
    public static int encode(final int kind, final int generation, final int slot)
    {
        return kind << KIND_SHIFT | generationBits(generation) << GENERATION_SHIFT | slot;
    }

    /** @return the kind of a message. */
    public static int kind(final int immediate)
    {
        return immediate >>> KIND_SHIFT;
    }

    /** @return the generation bits of a message. */
    public static int generation(final int immediate)
    {
        return generationBits(immediate >>> GENERATION_SHIFT);
    }

    /** @return the part of a generation that an immediate carries. */
    public static int generationBits(final int generation)
    {
        return generation & (1 << GENERATION_BITS) - 1;
    }

    /** @return the call slot of a message. */
    public static int slot(final int immediate)
    {
        return immediate & MAX_SLOTS - 1;
    }

    /** @return whether messages of this kind are for endpoints. */
    public static boolean isOfEndpoint(final int kind)
    {
        return kind >= KIND_MESSAGE && kind <= KIND_CLOSE || kind >= KIND_WRITE && kind < KIND_WRITE + WRITE_KINDS;
    }
}

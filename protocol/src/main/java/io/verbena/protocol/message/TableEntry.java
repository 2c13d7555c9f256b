package io.verbena.protocol.message;

/**
 * A table as the meta server knows it.
 *
 * @param name       1 to 255 bytes of UTF-8.
 * @param tableId    1 or more, never given twice.
 * @param descriptor bytes that only tables understand, up to {@link #MAX_DESCRIPTOR_BYTES}.
 */
public record TableEntry(String name, int tableId, byte[] descriptor)
{
    /** Longest name in bytes of UTF-8. */
    public static final int MAX_NAME_BYTES = 255;
    /** Longest descriptor. */
    public static final int MAX_DESCRIPTOR_BYTES = 3_584;
}

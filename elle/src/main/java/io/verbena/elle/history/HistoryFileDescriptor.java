package io.verbena.elle.history;

/**
 * Layout of a binary history: a file header, then blocks in any order. All numbers are little endian.
 *
 * <pre>
 *   file header                          block header
 *   0               4                    0               4
 *  +---------------+---------------+    +---------------+---------------+
 *  |             magic             |    |     magic     |     kind      |
 *  +---------------+---------------+    +---------------+---------------+
 *  |    version    |   reserved    |    | payload bytes |     count     |
 *  +---------------+---------------+    +---------------+---------------+
 *                                       |     lane      |   sequence    |
 *                                       +---------------+---------------+
 *                                       |   checksum    |   reserved    |
 *                                       +---------------+---------------+
 *                                       |           payload ...
 * </pre>
 *
 * <p>A <em>lane</em> holds the events of one recording thread, in time order; {@code sequence} numbers the
 * blocks of a lane from 0. The checksum is CRC-32C over the block header before it and the payload. The
 * page {@code docs/format/elle-history.md} describes the same and is compared with these constants by a test.
 */
final class HistoryFileDescriptor
{
    /** "VELLEHIS" in ASCII. */
    static final long MAGIC = 0x534948454C4C4556L;
    /** The only version there is; readers refuse others by number. */
    static final int VERSION = 1;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    static final int FILE_RESERVED_OFFSET = VERSION_OFFSET + Integer.BYTES;
    static final int FILE_HEADER_LENGTH = FILE_RESERVED_OFFSET + Integer.BYTES;

    /** "VBLK" in ASCII. */
    static final int BLOCK_MAGIC = 0x4B4C4256;
    static final int BLOCK_MAGIC_OFFSET = 0;
    static final int BLOCK_KIND_OFFSET = BLOCK_MAGIC_OFFSET + Integer.BYTES;
    static final int BLOCK_PAYLOAD_BYTES_OFFSET = BLOCK_KIND_OFFSET + Integer.BYTES;
    static final int BLOCK_COUNT_OFFSET = BLOCK_PAYLOAD_BYTES_OFFSET + Integer.BYTES;
    static final int BLOCK_LANE_OFFSET = BLOCK_COUNT_OFFSET + Integer.BYTES;
    static final int BLOCK_SEQUENCE_OFFSET = BLOCK_LANE_OFFSET + Integer.BYTES;
    static final int BLOCK_CHECKSUM_OFFSET = BLOCK_SEQUENCE_OFFSET + Integer.BYTES;
    static final int BLOCK_RESERVED_OFFSET = BLOCK_CHECKSUM_OFFSET + Integer.BYTES;
    static final int BLOCK_HEADER_LENGTH = BLOCK_RESERVED_OFFSET + Integer.BYTES;

    /** Largest block, header included; also what a lane buffers. */
    static final int MAX_BLOCK_LENGTH = 64 * 1024;

    /** Payload: {@code count} events. */
    static final int KIND_EVENTS = 1;
    /** Payload: the name of function number {@code sequence} in UTF-8. Lane and count are 0. */
    static final int KIND_FUNCTION = 2;
    /** Payload: number of events (8 bytes). The lane is the number of lanes. The recording was closed. */
    static final int KIND_END = 3;

    static final int EVENT_TYPE_OFFSET = 0;
    static final int EVENT_FUNCTION_OFFSET = EVENT_TYPE_OFFSET + Byte.BYTES;
    static final int EVENT_PROCESS_OFFSET = EVENT_FUNCTION_OFFSET + Byte.BYTES;
    static final int EVENT_TIME_OFFSET = EVENT_PROCESS_OFFSET + Integer.BYTES;
    /** After the fixed fields of an event follow two values: its key, then its value. */
    static final int EVENT_VALUES_OFFSET = EVENT_TIME_OFFSET + Long.BYTES;

    /** A value is one of these bytes and what follows it. */
    static final byte VALUE_NIL = 0;
    static final byte VALUE_FALSE = 1;
    static final byte VALUE_TRUE = 2;
    /** Followed by 8 bytes. */
    static final byte VALUE_LONG = 3;
    /** Followed by 8 bytes of an IEEE 754 double. */
    static final byte VALUE_DOUBLE = 4;
    /** Followed by a length (2 bytes) and as many bytes of UTF-8. */
    static final byte VALUE_STRING = 5;
    /** As a string; without the colon. */
    static final byte VALUE_KEYWORD = 6;
    /** Followed by a count (2 bytes) and as many values. */
    static final byte VALUE_LIST = 7;

    /** Functions are numbered by one byte. */
    static final int MAX_FUNCTIONS = 255;
    static final int MAX_COUNT = 0xFFFF;

    private HistoryFileDescriptor()
    {
    }
}

package io.verbena.rdma.soft.shared;

/**
 * Layout of a device's control file, {@code OWNER.N.device}: all that peers need to know of the device, and where they
 * leave what it needs to know of them. Native byte order: the file never leaves its host.
 *
 * <pre>
 *  0         8         12      16      20       24    32        40          48          56      60
 * +---------+---------+-------+-------+--------+-----+---------+-----------+-----------+-------+--------+
 * | magic   | format  | state | owner | device | pid | started | pid       | network   | flags | name   |
 * |"VRBNSFT1| version |       |       |        |     |         | namespace | namespace |       | length |
 * +---------+---------+-------+-------+--------+-----+---------+-----------+-----------+-------+--------+
 *  64         72        80          84           88         92             96           104       128    256
 * +----------+---------+-----------+------------+----------+--------------+------------+---------+------+-----------+--
 * | GID high | GID low | key limit | queue pair | visitor  | window limit | DC context | network | name | listeners |
 * |          |         |           | limit      | limit    |              | limit      | address |      |           |
 * +----------+---------+-----------+------------+----------+--------------+------------+---------+------+-----------+--
 *  4096        40960         65536              8 MiB                  16 MiB                  1 GiB
 * +-----------+-------------+------------------+----------------------+-----------------------+
 * | visitors  | DC contexts | keys             | queue pairs          | rings                 |
 * +-----------+-------------+------------------+----------------------+-----------------------+
 * </pre>
 *
 * <p>The file is as long as all of this and sparse: its owner allocates blocks before it publishes them (key
 * limit, queue pair limit, offsets of rings), so that no access meets a hole.
 */
public final class DeviceFileDescriptor
{
    public static final int FORMAT_VERSION = 5;
    /** {@code VRBNSFT1} in memory order of a little-endian machine. */
    public static final long MAGIC = 0x3154_4653_4E42_5256L;

    public static final int MAGIC_OFFSET = 0;
    public static final int VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    /** Written last (release) by the owner; DEAD by anybody who has found its process dead. */
    public static final int STATE_OFFSET = VERSION_OFFSET + Integer.BYTES;
    public static final int OWNER_OFFSET = STATE_OFFSET + Integer.BYTES;
    public static final int DEVICE_OFFSET = OWNER_OFFSET + Integer.BYTES;
    public static final int PID_OFFSET = DEVICE_OFFSET + Integer.BYTES;
    /** Clock ticks after boot, from {@code /proc/PID/stat}: identifies a process beside a later one of the same pid. */
    public static final int STARTED_OFFSET = PID_OFFSET + Long.BYTES;
    public static final int PID_NAMESPACE_OFFSET = STARTED_OFFSET + Long.BYTES;
    public static final int NETWORK_NAMESPACE_OFFSET = PID_NAMESPACE_OFFSET + Long.BYTES;
    public static final int FLAGS_OFFSET = NETWORK_NAMESPACE_OFFSET + Long.BYTES;
    public static final int NAME_LENGTH_OFFSET = FLAGS_OFFSET + Integer.BYTES;
    public static final int GID_HIGH_OFFSET = NAME_LENGTH_OFFSET + Integer.BYTES;
    public static final int GID_LOW_OFFSET = GID_HIGH_OFFSET + Long.BYTES;
    /** Keys of regions of an index from here on are unknown. */
    public static final int KEY_LIMIT_OFFSET = GID_LOW_OFFSET + Long.BYTES;
    public static final int QUEUE_PAIR_LIMIT_OFFSET = KEY_LIMIT_OFFSET + Integer.BYTES;
    /** No visitor was ever at an index from here on. */
    public static final int VISITOR_LIMIT_OFFSET = QUEUE_PAIR_LIMIT_OFFSET + Integer.BYTES;
    /** As the key limit, for windows; 0 as long as there was none. */
    public static final int WINDOW_LIMIT_OFFSET = VISITOR_LIMIT_OFFSET + Integer.BYTES;
    /** How many of the {@code DcContexts} there are to be had. */
    public static final int DC_CONTEXT_LIMIT_OFFSET = WINDOW_LIMIT_OFFSET + Integer.BYTES;
    /** Address of the device on a network (GID high and low, locator), when it is reached by one, too; else 0. */
    public static final int NETWORK_ADDRESS_OFFSET = 104;
    public static final int NAME_OFFSET = 128;
    public static final int MAX_NAME_BYTES = 128;

    /**
     * Table of {@link #MAX_LISTENERS} listeners: port (4, 0 when free), offset of the event word (4, 0 for none),
     * offset of the mailbox (8).
     */
    public static final int LISTENERS_OFFSET = NAME_OFFSET + MAX_NAME_BYTES;
    public static final int LISTENER_BYTES = 16;
    public static final int MAX_LISTENERS = 128;
    public static final int LISTENER_PORT_OFFSET = 0;
    /** Signalled after each request. */
    public static final int LISTENER_EVENT_OFFSET = 4;
    public static final int LISTENER_MAILBOX_OFFSET = 8;

    /** Table of GIDs' low halves: the devices that have this file mapped; index 0 stands for the owner itself. */
    public static final int VISITORS_OFFSET = 4096;
    public static final int MAX_VISITORS = 4096;

    /** Table of {@code DcContexts}. */
    public static final int DC_CONTEXTS_OFFSET = 40_960;
    public static final int MAX_DC_CONTEXTS = 128;
    public static final int DC_CONTEXT_BYTES = 64;

    public static final int KEYS_OFFSET = 1 << 16;
    public static final int MAX_KEYS = 1 << 16;
    public static final int QUEUE_PAIRS_OFFSET = 8 << 20;
    public static final int MAX_QUEUE_PAIRS = 1 << 14;
    public static final int RINGS_OFFSET = 16 << 20;
    public static final int LENGTH = 1 << 30;

    public static final int STATE_OPEN = 1;
    public static final int STATE_CLOSED = 2;
    public static final int STATE_DEAD = 3;

    /** The process may be killed when it delays a revocation. */
    public static final int FLAG_NODE = 1;

    static
    {
        if (LISTENERS_OFFSET + LISTENER_BYTES * MAX_LISTENERS > VISITORS_OFFSET ||
            VISITORS_OFFSET + MAX_VISITORS * Long.BYTES > DC_CONTEXTS_OFFSET ||
            DC_CONTEXTS_OFFSET + MAX_DC_CONTEXTS * DC_CONTEXT_BYTES > KEYS_OFFSET ||
            KEYS_OFFSET + KeyEntryDescriptor.LENGTH * MAX_KEYS > QUEUE_PAIRS_OFFSET ||
            QUEUE_PAIRS_OFFSET + QueuePairEntry.LENGTH * MAX_QUEUE_PAIRS > RINGS_OFFSET ||
            GID_HIGH_OFFSET % Long.BYTES != 0 || PID_OFFSET % Long.BYTES != 0)
        {
            throw new IllegalStateException("parts of the device file overlap or are not aligned");
        }
    }

    private DeviceFileDescriptor()
    {
    }
}

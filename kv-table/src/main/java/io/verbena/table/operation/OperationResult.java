package io.verbena.table.operation;

/** How an operation ended. Codes, not exceptions: all of these are expected. */
public final class OperationResult
{
    /** GET, EXISTS: the key is there. */
    public static final int FOUND = 0;
    /** The key is absent; REPLACE, PUT_IF_PRESENT, EXPIRE and DELETE changed nothing. */
    public static final int NOT_FOUND = 1;
    /** All kinds that store: stored; {@link Operation#version()} is the new version. */
    public static final int STORED = 2;
    /** DELETE: removed; {@link Operation#version()} is the removed version where known, else 0. */
    public static final int DELETED = 3;
    /** PUT_IF_ABSENT: the key is there, with {@link Operation#version()}; nothing changed. */
    public static final int EXISTS = 4;
    /** REPLACE, DELETE_VERSION: the key is there with another version, {@link Operation#version()}; nothing changed. */
    public static final int VERSION_MISMATCH = 5;
    /** No slot is left for this key; nothing changed. Create a larger table, or delete records. */
    public static final int TABLE_FULL = 6;
    /** No block could be had on the memory node before the deadline; nothing changed. */
    public static final int NO_MEMORY = 7;
    /** The deadline passed; the operation had no effect and will have none. */
    public static final int TIMED_OUT_NOT_APPLIED = 8;
    /** The deadline passed or the connection broke while the deciding request was under way: it may have happened. */
    public static final int OUTCOME_UNKNOWN = 9;
    /** The memory node cannot be reached; the operation had no effect and will have none. */
    public static final int NODE_UNAVAILABLE = 10;
    /** Slots of the key are frozen or not initialised, which this release does not follow; nothing changed. */
    public static final int RESTRUCTURING = 11;
    /** The buckets read belong to another table: this one was dropped, or the descriptor is old; nothing changed. */
    public static final int TABLE_CHANGED = 12;
    /**
     * The block of a standing committed word fails its checksum again and again, or a word names memory that the node
     * has not; nothing changed. Check the table.
     */
    public static final int CORRUPT = 13;
    /** INCREMENT: the value there is no number of 64 bits, {@link Operation#version()}; nothing changed. */
    public static final int NOT_A_COUNTER = 14;
    /** INCREMENT: the sum does not fit 64 bits, {@link Operation#version()}; nothing changed. */
    public static final int COUNTER_OVERFLOW = 15;
    /** APPEND: the value would be longer than a block can hold, {@link Operation#version()}; nothing changed. */
    public static final int VALUE_TOO_LONG = 16;
    /** EXPIRE: the condition on the deadline that the record has does not hold; nothing changed. */
    public static final int CONDITION_NOT_MET = 17;
    /** How many codes there are. */
    public static final int COUNT = 18;

    private static final String[] NAMES = {
        "found", "not_found", "stored", "deleted", "exists", "version_mismatch", "table_full", "no_memory",
        "timed_out_not_applied", "outcome_unknown", "node_unavailable", "restructuring", "table_changed", "corrupt",
        "not_a_counter", "counter_overflow", "value_too_long", "condition_not_met" };

    private OperationResult()
    {
    }

    /** @return name in messages and statistics. */
    public static String name(final int result)
    {
        return NAMES[result];
    }
}

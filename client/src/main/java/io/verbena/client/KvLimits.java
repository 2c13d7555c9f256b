package io.verbena.client;

/** Limits of the interface, checked before anything is sent. */
public final class KvLimits
{
    /** Longest key; the shortest has one byte. */
    public static final int MAX_KEY_BYTES = 64 * 1024;

    /** Longest value; the shortest is empty. */
    public static final int MAX_VALUE_BYTES = 16 * 1024;

    /** Longest name of a table, in characters. */
    public static final int MAX_TABLE_NAME_LENGTH = 128;

    private KvLimits()
    {
    }
}

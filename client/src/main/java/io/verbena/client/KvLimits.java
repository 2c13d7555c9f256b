package io.verbena.client;

import io.verbena.protocol.message.TableName;
import io.verbena.protocol.request.RequestLimits;

/** Limits of the interface, checked before anything is sent. */
public final class KvLimits
{
    /** Longest key; the shortest has one byte. */
    public static final int MAX_KEY_BYTES = RequestLimits.MAX_KEY_BYTES;

    /** Longest value; the shortest is empty. */
    public static final int MAX_VALUE_BYTES = RequestLimits.MAX_VALUE_BYTES;

    /** Longest name of a table, in characters. */
    public static final int MAX_TABLE_NAME_LENGTH = TableName.MAX_LENGTH;

    private KvLimits()
    {
    }
}

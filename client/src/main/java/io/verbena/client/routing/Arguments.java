package io.verbena.client.routing;

import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.protocol.message.TableName;

import java.util.List;

/** The checks that come before anything is sent. */
final class Arguments
{
    /** Longest timeout, so that deadlines never overflow: 30 days. */
    static final long MAX_TIMEOUT_NS = 30L * 24 * 3600 * 1_000_000_000L;

    private Arguments()
    {
    }

    static void checkKey(final byte[] key)
    {
        if (null == key)
        {
            throw new KvInvalidRequestException("key is null");
        }
        if (key.length < 1 || key.length > KvLimits.MAX_KEY_BYTES)
        {
            throw new KvInvalidRequestException(
                "key must have 1 to " + KvLimits.MAX_KEY_BYTES + " bytes: keyBytes=" + key.length);
        }
    }

    static void checkValue(final byte[] value)
    {
        if (null == value)
        {
            throw new KvInvalidRequestException("value is null; to remove a record use delete");
        }
        if (value.length > KvLimits.MAX_VALUE_BYTES)
        {
            throw new KvInvalidRequestException(
                "value must have 0 to " + KvLimits.MAX_VALUE_BYTES + " bytes: valueBytes=" + value.length);
        }
    }

    static void checkVersion(final long expectedVersion)
    {
        if (expectedVersion < 1)
        {
            throw new KvInvalidRequestException(
                "expectedVersion must be 1 or more, as a read or a write returned it: expectedVersion=" +
                    expectedVersion);
        }
    }

    static void checkKeys(final List<byte[]> keys)
    {
        if (null == keys)
        {
            throw new KvInvalidRequestException("keys is null");
        }
        keys.forEach(Arguments::checkKey);
    }

    static void checkValues(final List<byte[]> keys, final List<byte[]> values)
    {
        checkKeys(keys);
        if (null == values || values.size() != keys.size())
        {
            throw new KvInvalidRequestException("there must be one value for each key: keys=" + keys.size() +
                ", values=" + (null == values ? "null" : values.size()));
        }
        values.forEach(Arguments::checkValue);
    }

    /** @return the timeout, cut to {@link #MAX_TIMEOUT_NS}. */
    static long checkTimeout(final long timeoutNs)
    {
        if (timeoutNs < 1)
        {
            throw new KvInvalidRequestException("timeoutNs must be 1 or more: timeoutNs=" + timeoutNs);
        }
        return Math.min(timeoutNs, MAX_TIMEOUT_NS);
    }

    static void checkTableName(final String name)
    {
        final String problem = TableName.problem(name);
        if (null != problem)
        {
            throw new KvInvalidRequestException(problem);
        }
    }
}

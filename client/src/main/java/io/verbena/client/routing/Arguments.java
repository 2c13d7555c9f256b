package io.verbena.client.routing;

import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.client.TableOptions;
import io.verbena.protocol.message.TableName;

import java.time.Duration;
import java.util.List;

/** The checks that come before anything is sent. */
final class Arguments
{
    /** Longest timeout, so that deadlines never overflow: 30 days. */
    static final Duration MAX_TIMEOUT = Duration.ofDays(30);
    private static final long MAX_TIMEOUT_NS = MAX_TIMEOUT.toNanos();

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

    /** @return nanoseconds of the timeout, cut to {@link #MAX_TIMEOUT_NS}. */
    static long checkTimeout(final Duration timeout)
    {
        if (null == timeout || timeout.isZero() || timeout.isNegative())
        {
            throw new KvInvalidRequestException("timeout must be 1 ns or more: timeout=" + timeout);
        }
        return timeout.compareTo(MAX_TIMEOUT) > 0 ? MAX_TIMEOUT_NS : timeout.toNanos();
    }

    static void checkTableOptions(final TableOptions options)
    {
        if (null == options)
        {
            throw new KvInvalidRequestException("options is null; TableOptions.DEFAULTS are for 100,000 records");
        }
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

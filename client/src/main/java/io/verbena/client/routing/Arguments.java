package io.verbena.client.routing;

import io.verbena.client.Expiry;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.client.TableOptions;
import io.verbena.protocol.message.TableName;
import io.verbena.protocol.request.RequestExpiry;

import java.time.Duration;
import java.time.Instant;
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

    /** @return what the write says of the record's deadline, as {@link RequestExpiry} has it. */
    static long expiry(final Expiry expiry)
    {
        return switch (expiry)
        {
            case null -> throw new KvInvalidRequestException("expiry is null; for a record without one, Expiry.NEVER");
            case final Expiry.Never _ -> RequestExpiry.NONE;
            case final Expiry.Keep _ -> RequestExpiry.KEEP;
            case final Expiry.In in -> RequestExpiry.in(millis("timeToLive", in.timeToLive(), Duration.ZERO));
            case final Expiry.At at -> RequestExpiry.at(
                millis("deadline", null == at.deadline() ? null : Duration.between(Instant.EPOCH, at.deadline()),
                    Duration.ofMillis(1)));
        };
    }

    private static long millis(final String what, final Duration duration, final Duration floor)
    {
        if (null == duration || duration.compareTo(floor) < 0 || duration.isZero() ||
            duration.compareTo(Duration.ofMillis(RequestExpiry.MAX_MS)) > 0)
        {
            throw new KvInvalidRequestException(what + " must be above 0 and at most " + RequestExpiry.MAX_MS +
                " ms: " + what + '=' + duration);
        }
        return floor.isZero() ? duration.plusNanos(999_999).toMillis() : duration.toMillis();
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

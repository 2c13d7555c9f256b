package io.verbena.resp.command;

import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.OperationSteps;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/** Commands that make a new value out of the old one, which keeps its deadline. Stateless. */
final class ChangeCommands
{
    private static final String TOO_LONG =
        "ERR string exceeds maximum allowed size (" + RequestLimits.MAX_VALUE_BYTES + " bytes)";
    private static final Pattern INFINITY = Pattern.compile("(?i)[+-]?inf(inity)?");
    private static final int MAX_INFINITY_BYTES = 9;
    private static final String NO_INFINITY = "ERR increment would produce NaN or Infinity";
    private static final String NO_FLOAT = "ERR value is not a valid float";
    private static final int DECIMALS = 17;
    private static final int MAX_FLOAT_BYTES = 512;

    private static final VarHandle SUM = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final OperationSteps INCREMENT = new OperationSteps()
    {
        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number((long)SUM.get(operation.foundValue(), 0));
        }
    };

    /** The value to write begins with the bytes to append, as many as the first number says. */
    private static final OperationSteps APPEND = new UpdateSteps()
    {
        @Override
        protected Change change(final TableOperation operation, final int foundLength)
        {
            final int own = (int)operation.first();
            final int old = Math.max(0, foundLength);
            if (old + own > RequestLimits.MAX_VALUE_BYTES)
            {
                operation.fail(TOO_LONG);
                return Change.NONE;
            }
            // The bytes to append stay at the end of the array, so that they can be appended again.
            final byte[] value = operation.roomForValue(2 * RequestLimits.MAX_VALUE_BYTES);
            if (0 == operation.second())
            {
                System.arraycopy(value, 0, value, RequestLimits.MAX_VALUE_BYTES, own);
            }
            System.arraycopy(operation.found(), 0, value, 0, old);
            System.arraycopy(value, RequestLimits.MAX_VALUE_BYTES, value, old, own);
            operation.keep(own, old + own);
            operation.writtenLength(old + own);
            return 0 == old + own && foundLength >= 0 ? Change.NONE : Change.WRITE;
        }

        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number(operation.second());
        }
    };

    /** The first number is the offset; the second the length of what is put there, kept at the end of the array. */
    private static final OperationSteps SETRANGE = new UpdateSteps()
    {
        @Override
        protected Change change(final TableOperation operation, final int foundLength)
        {
            final int offset = (int)operation.first();
            final int own = (int)operation.second();
            final int old = Math.max(0, foundLength);
            if (0 == own)
            {
                operation.writtenLength(old);
                return Change.NONE;
            }
            final byte[] value = operation.roomForValue(2 * RequestLimits.MAX_VALUE_BYTES);
            System.arraycopy(operation.found(), 0, value, 0, old);
            if (offset > old)
            {
                Arrays.fill(value, old, offset, (byte)0);
            }
            System.arraycopy(value, RequestLimits.MAX_VALUE_BYTES, value, offset, own);
            operation.writtenLength(Math.max(old, offset + own));
            return Change.WRITE;
        }

        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.number(operation.writtenLength());
        }
    };

    /** The value to write holds what is added, of a length that the first number says, at the end of the array. */
    private static final OperationSteps INCREMENT_FLOAT = new UpdateSteps()
    {
        @Override
        protected Change change(final TableOperation operation, final int foundLength)
        {
            final BigDecimal old = foundLength < 0 ? BigDecimal.ZERO : decimal(operation.found(), 0, foundLength);
            if (null == old)
            {
                operation.fail(isInfinity(operation.found(), 0, foundLength) ? NO_INFINITY : NO_FLOAT);
                return Change.NONE;
            }
            final BigDecimal added =
                decimal(operation.written(), RequestLimits.MAX_VALUE_BYTES, (int)operation.first());
            if (null == added)
            {
                operation.fail(NO_INFINITY);
                return Change.NONE;
            }
            final BigDecimal sum = old.add(added).setScale(DECIMALS, RoundingMode.HALF_EVEN).stripTrailingZeros();
            final byte[] text = (0 == sum.signum() ? "0" : sum.toPlainString()).getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(text, 0, operation.written(), 0, text.length);
            operation.writtenLength(text.length);
            return Change.WRITE;
        }

        @Override
        protected void reply(final TableOperation operation, final RespWriter writer)
        {
            writer.bulk(operation.written(), 0, operation.writtenLength());
        }
    };

    private ChangeCommands()
    {
    }

    static void incr(final Session session)
    {
        increment(session, 1);
    }

    static void decr(final Session session)
    {
        increment(session, -1);
    }

    static void incrby(final Session session)
    {
        if (Arguments.isNumber(session.arguments(), 2))
        {
            increment(session, Arguments.number(session.arguments(), 2));
        }
        else
        {
            StringCommands.refuse(session, Arguments.NO_INTEGER);
        }
    }

    static void decrby(final Session session)
    {
        if (!Arguments.isNumber(session.arguments(), 2))
        {
            StringCommands.refuse(session, Arguments.NO_INTEGER);
        }
        else if (Long.MIN_VALUE == Arguments.number(session.arguments(), 2))
        {
            StringCommands.refuse(session, "ERR decrement would overflow");
        }
        else
        {
            increment(session, -Arguments.number(session.arguments(), 2));
        }
    }

    private static void increment(final Session session, final long amount)
    {
        final TableOperation operation = session.operation(INCREMENT);
        if (null != operation)
        {
            operation.ask(RequestKind.INCREMENT, amount);
        }
    }

    static void append(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (arguments.length(2) > RequestLimits.MAX_VALUE_BYTES)
        {
            StringCommands.refuse(session, TOO_LONG);
            return;
        }
        final TableOperation operation = session.operation(APPEND);
        if (null != operation)
        {
            operation.valueOf(arguments, 2);
            operation.keep(arguments.length(2), 0);
            operation.wantedExpiry(RequestExpiry.KEEP);
            operation.ask(RequestKind.GET, 0);
        }
    }

    static void setrange(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (!Arguments.isNumber(arguments, 2))
        {
            StringCommands.refuse(session, Arguments.NO_INTEGER);
            return;
        }
        final long offset = Arguments.number(arguments, 2);
        final int length = arguments.length(3);
        if (offset < 0)
        {
            StringCommands.refuse(session, "ERR offset is out of range");
        }
        else if (length > 0 && (offset > RequestLimits.MAX_VALUE_BYTES ||
            offset + length > RequestLimits.MAX_VALUE_BYTES))
        {
            StringCommands.refuse(session, TOO_LONG);
        }
        else
        {
            keepAtEnd(session, SETRANGE, 3, Math.min(offset, RequestLimits.MAX_VALUE_BYTES), length);
        }
    }

    static void incrbyfloat(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final int length = arguments.length(2);
        if (!arguments.isKept(2) || null == decimal(arguments.array(), arguments.offset(2), length) &&
            !isInfinity(arguments.array(), arguments.offset(2), length))
        {
            StringCommands.refuse(session, NO_FLOAT);
        }
        else
        {
            keepAtEnd(session, INCREMENT_FLOAT, 2, length, 0);
        }
    }

    private static boolean isInfinity(final byte[] bytes, final int offset, final int length)
    {
        return length <= MAX_INFINITY_BYTES &&
            INFINITY.matcher(new String(bytes, offset, length, StandardCharsets.ISO_8859_1)).matches();
    }

    private static void keepAtEnd(
        final Session session, final OperationSteps steps, final int argument, final long first, final long second)
    {
        final TableOperation operation = session.operation(steps);
        if (null != operation)
        {
            final RespDecoder arguments = session.arguments();
            System.arraycopy(arguments.array(), arguments.offset(argument),
                operation.roomForValue(2 * RequestLimits.MAX_VALUE_BYTES), RequestLimits.MAX_VALUE_BYTES,
                arguments.length(argument));
            operation.keep(first, second);
            operation.wantedExpiry(RequestExpiry.KEEP);
            operation.ask(RequestKind.GET, 0);
        }
    }

    /** The number that bytes are, if it can be one of Redis that fits 64 bits of floating point; else null. */
    private static BigDecimal decimal(final byte[] bytes, final int offset, final int length)
    {
        if (length < 1 || length > MAX_FLOAT_BYTES)
        {
            return null;
        }
        try
        {
            final String text = new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
            final double nearest = Double.parseDouble(text);
            final byte last = bytes[offset + length - 1];
            final boolean isPlain = bytes[offset] > ' ' && ('.' == last || last >= '0' && last <= '9');
            if (!isPlain || !Double.isFinite(nearest))
            {
                return null;
            }
            // What is next to nothing would have as many digits as its exponent says.
            return 0 == nearest ? BigDecimal.ZERO : new BigDecimal(text);
        }
        catch (final NumberFormatException ex)
        {
            return null;
        }
    }
}

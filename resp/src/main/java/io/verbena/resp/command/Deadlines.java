package io.verbena.resp.command;

import io.verbena.protocol.request.RequestExpiry;
import io.verbena.resp.codec.RespDecoder;

import org.agrona.concurrent.SystemEpochClock;

import java.util.concurrent.TimeUnit;

/**
 * What arguments say about the deadline of a record, as a word of {@link RequestExpiry}, or one of the words here, of
 * which only {@link #PAST} is ever one there. Stateless; allocates for errors only.
 */
final class Deadlines
{
    /** A deadline that has passed by the clock of this host: nothing is written with it, the record is deleted. */
    static final long PAST = RequestExpiry.at(1);
    /** The time is out of range. */
    static final long INVALID = RequestExpiry.KEEP + 1;
    /** The time is no number. */
    static final long NO_INTEGER = RequestExpiry.KEEP + 2;
    /** The options are wrong. */
    static final long SYNTAX_ERROR = RequestExpiry.KEEP + 3;
    private static final long MS_OF_SECOND = TimeUnit.SECONDS.toMillis(1);

    private Deadlines()
    {
    }

    /**
     * Whether an argument is EX, PX, EXAT or PXAT with a number behind it.
     *
     * @param before position of the option of this command that named a time before, which only the same option may
     *               name again; 0 for none.
     */
    static boolean isTime(final RespDecoder arguments, final int i, final int before)
    {
        final boolean isOption = i + 1 < arguments.count() &&
            (isFromNow(arguments, i) || Arguments.is(arguments, i, "EXAT") || Arguments.is(arguments, i, "PXAT"));
        return isOption && (0 == before || isSeconds(arguments, i) == isSeconds(arguments, before) &&
            isFromNow(arguments, i) == isFromNow(arguments, before));
    }

    private static boolean isFromNow(final RespDecoder arguments, final int option)
    {
        return Arguments.is(arguments, option, "EX") || Arguments.is(arguments, option, "PX");
    }

    private static boolean isSeconds(final RespDecoder arguments, final int option)
    {
        return Arguments.is(arguments, option, "EX") || Arguments.is(arguments, option, "EXAT");
    }

    /** The word that an option and the number behind it say; none without an option, which is at 0 then. */
    static long ofOption(final RespDecoder arguments, final int option)
    {
        return 0 == option ? RequestExpiry.NONE :
            above0(arguments, option + 1, isSeconds(arguments, option), isFromNow(arguments, option));
    }

    /** The word of a number, for commands that refuse 0 and less. */
    static long above0(
        final RespDecoder arguments, final int i, final boolean isSeconds, final boolean isFromNow)
    {
        return Arguments.isNumber(arguments, i) && Arguments.number(arguments, i) <= 0 ? INVALID :
            any(arguments, i, isSeconds, isFromNow);
    }

    /** The word of a number, for commands that delete what has 0 or less. */
    static long any(final RespDecoder arguments, final int i, final boolean isSeconds, final boolean isFromNow)
    {
        return Arguments.isNumber(arguments, i) ?
            of(Arguments.number(arguments, i), isSeconds ? MS_OF_SECOND : 1, isFromNow) : NO_INTEGER;
    }

    /** As Redis refuses it; a deadline behind the latest one possible is that one. */
    private static long of(final long number, final long unitMs, final boolean isFromNow)
    {
        final long nowMs = SystemEpochClock.INSTANCE.time();
        final long mostMs = Long.MAX_VALUE - (isFromNow ? nowMs : 0);
        if (number > Long.MAX_VALUE / unitMs || number * unitMs > mostMs || number < Long.MIN_VALUE / unitMs)
        {
            return INVALID;
        }
        final long ms = number * unitMs;
        if (ms <= (isFromNow ? 0 : nowMs))
        {
            return PAST;
        }
        return ms > RequestExpiry.MAX_MS - (isFromNow ? nowMs : 0) ? RequestExpiry.at(RequestExpiry.MAX_MS) :
            isFromNow ? RequestExpiry.in(ms) : RequestExpiry.at(ms);
    }

    /** Why a word cannot be written, or null. */
    static String refusal(final long word, final String command)
    {
        return SYNTAX_ERROR == word ? Arguments.SYNTAX_ERROR :
            NO_INTEGER == word ? Arguments.NO_INTEGER :
            INVALID == word ? "ERR invalid expire time in '" + command + "' command" : null;
    }
}

package io.verbena.resp.session;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.resp.codec.RespDecoder;

/** What clients get for answers that are failures, and for commands that there are not. Stateless. */
public final class Failures
{
    /** As Redis says that it does not serve yet: clients try again, or at another node. */
    private static final String LOADING = "LOADING this compute node does not serve now, it joins or leaves";
    private static final String OUT_OF_MEMORY = "OOM command not allowed: ";
    private static final int SHOWN_BYTES = 128;
    private static final long NS_PER_MS = 1_000_000;

    private Failures()
    {
    }

    /** @return the error for an answer, or null when it is no failure. */
    public static String of(final OperationRequest request)
    {
        final OperationAnswer answer = request.answer();
        return switch (answer)
        {
            case FOUND, NOT_FOUND, STORED, EXISTS, DELETED, VERSION_MISMATCH, CONDITION_NOT_MET -> null;
            case TABLE_FULL -> OUT_OF_MEMORY + "the table has no room for this key, delete records or add memory";
            case NO_MEMORY -> OUT_OF_MEMORY + "no memory for the value, delete records or add a memory node";
            case TIMED_OUT -> "ERR timed out, not applied" + detail(request);
            case OUTCOME_UNKNOWN -> "ERR outcome unknown, read the record before the command is repeated" +
                detail(request);
            case NO_SUCH_TABLE -> "ERR no such table: it was dropped, SELECT another one";
            case UNREACHABLE -> "ERR memory node or meta server unreachable, not applied" + detail(request);
            case CORRUPT -> "ERR the record is damaged, not applied" + detail(request);
            case NOT_SERVING -> LOADING + detail(request);
            case NOT_A_COUNTER -> "ERR value is not an integer or out of range";
            case COUNTER_OVERFLOW -> "ERR increment or decrement would overflow";
            case PERMISSION_DENIED -> noPermission(request.detail());
            case QUOTA_EXCEEDED -> "QUOTA " + request.detail() + ", try again in " +
                Math.ceilDiv(request.version(), NS_PER_MS) + " ms";
            case VALUE_TOO_LONG -> "ERR string exceeds maximum allowed size (16384 bytes)";
        };
    }

    /** @return the error for what a user may not do, as Redis has it. */
    static String noPermission(final String why)
    {
        return "NOPERM " + why;
    }

    /** @return the error for a node that takes no request. */
    static String notTaken(final boolean isFull)
    {
        return isFull ? "TRYAGAIN the queue of this compute node is full" : LOADING;
    }

    /** @return the error for a command that there is not. */
    static String unknown(final RespDecoder arguments)
    {
        final StringBuilder shown = new StringBuilder();
        for (int i = 1; i < arguments.count() && shown.length() < SHOWN_BYTES; i++)
        {
            shown.append('\'' + begin(arguments.shownText(i), SHOWN_BYTES - shown.length()) + "' ");
        }
        return "ERR unknown command '" + begin(arguments.shownText(0), SHOWN_BYTES) +
            "', with args beginning with: " + shown;
    }

    private static String begin(final String text, final int mostBytes)
    {
        return text.substring(0, Math.min(text.length(), mostBytes));
    }

    private static String detail(final OperationRequest request)
    {
        return null == request.detail() ? "" : ": " + request.detail();
    }
}

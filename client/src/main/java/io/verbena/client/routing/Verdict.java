package io.verbena.client.routing;

import io.verbena.client.KvClosedException;
import io.verbena.client.KvCorruptException;
import io.verbena.client.KvCounterOverflowException;
import io.verbena.client.KvException;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvLimits;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvNotACounterException;
import io.verbena.client.KvOutOfMemoryException;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvPermissionDeniedException;
import io.verbena.client.KvQuotaExceededException;
import io.verbena.client.KvTableFullException;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.KvUnavailableException;
import io.verbena.client.KvValueTooLongException;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.failure.Backoff;

import java.time.Duration;

/** What an answer means for a call: it is over, well or badly, or another node may try. */
final class Verdict
{
    /** How long after the deadline a node may still answer, before its caller gives up on it: 5 ms. */
    static final long GRACE_NS = 5_000_000;
    /** Pause while there is no node, and longest first pause when every node has refused a call: 200 microseconds. */
    static final long BACK_OFF_NS = 200_000;
    /** Longest pause when every node has refused a call many times: 20 ms. */
    private static final long MAX_BACK_OFF_NS = 20_000_000;

    private static final long NS_PER_MS = 1_000_000;

    private Verdict()
    {
    }

    /**
     * @param round how often every node has refused the call, 0 while there is no node.
     * @param bits  anything that differs between calls that wait at one instant.
     * @return pause in nanoseconds before it is offered to them again.
     */
    static long backOffNs(final int round, final long bits)
    {
        return 0 == round ? BACK_OFF_NS : Backoff.pauseNs(round - 1, BACK_OFF_NS, MAX_BACK_OFF_NS, bits);
    }

    /**
     * @param request answered.
     * @return true if the operation had no effect and another node, or this one later, may take it.
     */
    static boolean mayTryAgain(final OperationRequest request)
    {
        final OperationAnswer answer = request.answer();
        return OperationAnswer.NOT_SERVING == answer || OperationAnswer.UNREACHABLE == answer ||
            (OperationAnswer.OUTCOME_UNKNOWN == answer && request.kind().isRead());
    }

    /**
     * @param request answered, not to be tried again.
     * @return the exception its caller gets, or null if it succeeded.
     */
    static KvException failure(final OperationRequest request)
    {
        return switch (request.answer())
        {
            case TABLE_FULL -> new KvTableFullException(facts(request) +
                " found no free slot, and the table cannot grow; add memory, or make one with more expectedRecords");
            case NO_MEMORY -> new KvOutOfMemoryException(facts(request) +
                " found no memory for the value; delete records or add memory");
            case NOT_A_COUNTER -> new KvNotACounterException(facts(request) +
                " found a value that is no counter, neither 8 bytes nor decimal digits of 64 bits; its version=" +
                request.version());
            case COUNTER_OVERFLOW -> new KvCounterOverflowException(facts(request) +
                " would leave the range of 64 bits: amount=" + request.operand());
            case VALUE_TOO_LONG -> new KvValueTooLongException(facts(request) +
                " would make the value longer than " + KvLimits.MAX_VALUE_BYTES + " bytes");
            case TIMED_OUT -> timedOut(request);
            case OUTCOME_UNKNOWN -> request.kind().isRead() ?
                unavailable(request, request.detail()) : outcomeUnknown(request, request.detail());
            case NO_SUCH_TABLE -> new KvNoSuchTableException("table was dropped: name=" + request.table().name() +
                ", id=" + request.table().id());
            case CORRUPT -> new KvCorruptException(facts(request) +
                " found a record whose bytes fail their checksum; './verbena table check' finds what is damaged");
            case PERMISSION_DENIED -> new KvPermissionDeniedException(
                facts(request) + " is not permitted: " + request.detail());
            case QUOTA_EXCEEDED -> new KvQuotaExceededException(facts(request) + " is over quota: " +
                request.detail() + "; try again in " + Math.ceilDiv(request.version(), NS_PER_MS) + " ms",
                Duration.ofNanos(request.version()));
            case NOT_SERVING, UNREACHABLE -> unavailable(request, request.detail());
            case FOUND, NOT_FOUND, STORED, EXISTS, DELETED, VERSION_MISMATCH, CONDITION_NOT_MET -> null;
        };
    }

    static KvException timedOut(final OperationRequest request)
    {
        return new KvTimeoutException(facts(request) + " was not " +
            (request.kind().isRead() ? "answered" : "applied") + " before its deadline");
    }

    /** @return the exception for each key of a call of many that found no room before the deadline of the call. */
    static KvException notBegun(final RequestKind kind, final TableReference table)
    {
        return new KvTimeoutException(kind + " in table " + table.name() +
            " was not begun before the deadline of the call; give it a longer timeout, or fewer keys");
    }

    /**
     * @param request that a node had begun when its caller gave up.
     * @return the exception for its kind: what reads did does not matter.
     */
    static KvException givenUp(final OperationRequest request)
    {
        return request.kind().isRead() ?
            timedOut(request) : outcomeUnknown(request, "no answer before the deadline");
    }

    static KvException unavailable(final OperationRequest request, final String detail)
    {
        return new KvUnavailableException(facts(request) + " found no node that could serve it before its deadline" +
            (null == detail ? "" : ": " + detail));
    }

    static KvClosedException closed()
    {
        return new KvClosedException("client is closed");
    }

    /** The calling thread is answering requests of this client, and would wait for itself. */
    static KvInvalidRequestException nested(final Object kind)
    {
        return new KvInvalidRequestException(kind + " was called, to wait for its answer, by the thread that " +
            "receives answers: what depends on a future must not wait there; use the asynchronous operations, or a " +
            "completionExecutor with threads of its own");
    }

    private static KvException outcomeUnknown(final OperationRequest request, final String detail)
    {
        return new KvOutcomeUnknownException(facts(request) + " has an unknown outcome" +
            (null == detail ? "" : " (" + detail + ')') + "; read the record before repeating it");
    }

    private static String facts(final OperationRequest request)
    {
        return request.kind() + " in table " + request.table().name();
    }
}

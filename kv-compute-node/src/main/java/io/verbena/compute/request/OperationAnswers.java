package io.verbena.compute.request;

import io.verbena.compute.figures.OperationFigures;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.table.operation.OperationResult;

/** What requests are answered with, by the results of the engine. Stateless. */
final class OperationAnswers
{
    private OperationAnswers()
    {
    }

    /** @return the answer for a result of the engine; an unknown result is an error. */
    static OperationAnswer answerOf(final int result)
    {
        return switch (result)
        {
            case OperationResult.FOUND -> OperationAnswer.FOUND;
            case OperationResult.NOT_FOUND -> OperationAnswer.NOT_FOUND;
            case OperationResult.STORED -> OperationAnswer.STORED;
            case OperationResult.DELETED -> OperationAnswer.DELETED;
            case OperationResult.EXISTS -> OperationAnswer.EXISTS;
            case OperationResult.VERSION_MISMATCH -> OperationAnswer.VERSION_MISMATCH;
            case OperationResult.NOT_A_COUNTER -> OperationAnswer.NOT_A_COUNTER;
            case OperationResult.COUNTER_OVERFLOW -> OperationAnswer.COUNTER_OVERFLOW;
            case OperationResult.VALUE_TOO_LONG -> OperationAnswer.VALUE_TOO_LONG;
            case OperationResult.CONDITION_NOT_MET -> OperationAnswer.CONDITION_NOT_MET;
            case OperationResult.TABLE_FULL -> OperationAnswer.TABLE_FULL;
            case OperationResult.NO_MEMORY -> OperationAnswer.NO_MEMORY;
            case OperationResult.TIMED_OUT_NOT_APPLIED -> OperationAnswer.TIMED_OUT;
            case OperationResult.OUTCOME_UNKNOWN -> OperationAnswer.OUTCOME_UNKNOWN;
            case OperationResult.TABLE_CHANGED -> OperationAnswer.NO_SUCH_TABLE;
            case OperationResult.CORRUPT -> OperationAnswer.CORRUPT;
            case OperationResult.NODE_UNAVAILABLE, OperationResult.RESTRUCTURING -> OperationAnswer.UNREACHABLE;
            default -> throw new IllegalStateException("an operation ended with unknown result " + result);
        };
    }

    /** @return what to say besides, one line; null where the answer says it all. */
    static String detailOf(final int result)
    {
        return switch (result)
        {
            case OperationResult.OUTCOME_UNKNOWN, OperationResult.NODE_UNAVAILABLE -> "memory node did not answer";
            case OperationResult.RESTRUCTURING -> "table is being restructured by another version";
            case OperationResult.CORRUPT -> "a record fails its checksum, or lies where there is no memory";
            default -> null;
        };
    }

    /** Answers a request that was not begun, and counts it, unless it was withdrawn. */
    static void refuse(
        final OperationRequest request, final OperationAnswer answer, final String detail,
        final OperationFigures figures)
    {
        if (request.start())
        {
            figures.refused(request.kind(), answer);
            request.answer(answer, null, 0, detail);
            request.complete();
        }
    }
}

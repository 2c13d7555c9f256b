package io.verbena.resp.command;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.session.OperationSteps;
import io.verbena.resp.session.TableOperation;

/**
 * A command that makes a new value out of the old one: reads the record, and writes over the version that it has read,
 * until nobody came between; the time limit of the operation ends that.
 */
abstract class UpdateSteps extends OperationSteps
{
    /** What to do with a record that was read. */
    enum Change
    {
        /** Write the value that the operation has been given. */
        WRITE,
        /** Delete it. */
        DELETE,
        /** Nothing: reply. */
        NONE
    }

    /**
     * Makes the new value, in {@link TableOperation#roomForValue}; or {@linkplain TableOperation#fail fails}.
     *
     * @param operation   holds the old value in {@link TableOperation#found()}.
     * @param foundLength of the old value; -1 where there is no record.
     * @return what to do.
     */
    protected abstract Change change(TableOperation operation, int foundLength);

    /** What writes the value that was found, with the deadline that is wanted; deletes it if that has passed. */
    static Change sameValue(final TableOperation operation, final int foundLength)
    {
        if (Deadlines.PAST == operation.wantedExpiry())
        {
            return Change.DELETE;
        }
        operation.valueOf(operation.found(), 0, foundLength);
        return Change.WRITE;
    }

    @Override
    protected boolean onAnswer(final TableOperation operation)
    {
        final OperationAnswer answer = operation.answer();
        if (RequestKind.GET != operation.kind())
        {
            if (OperationAnswer.STORED == answer || OperationAnswer.DELETED == answer)
            {
                return true;
            }
            operation.ask(RequestKind.GET, 0);
            return false;
        }
        final boolean isFound = OperationAnswer.FOUND == answer;
        final long version = operation.version();
        final Change change = change(operation, isFound ? operation.foundLength() : -1);
        if (Change.NONE == change || null != operation.failure())
        {
            return true;
        }
        operation.ask(Change.DELETE == change ? RequestKind.DELETE_BY_VERSION :
            isFound ? RequestKind.REPLACE : RequestKind.PUT_IF_ABSENT, isFound ? version : 0);
        return false;
    }
}

package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.rpc.RpcStatus;

import java.util.List;

/** What the end of a call means for a request about tables. */
final class ControlOutcome
{
    private ControlOutcome()
    {
    }

    static ControlRequest.Status of(final ControlRequest.Kind kind, final RpcStatus status)
    {
        if (RpcStatus.REFUSED == status)
        {
            return ControlRequest.Status.NOT_SERVING;
        }
        if (changes(kind))
        {
            return ControlRequest.Status.OUTCOME_UNKNOWN;
        }
        return RpcStatus.TIMED_OUT == status ? ControlRequest.Status.TIMED_OUT : ControlRequest.Status.NOT_SERVING;
    }

    private static boolean changes(final ControlRequest.Kind kind)
    {
        return ControlRequest.Kind.CREATE_TABLE == kind || ControlRequest.Kind.DROP_TABLE == kind;
    }

    /** What it means that a node has done what was asked and cannot say how it ended. */
    static ControlRequest.Status ofUnsent(final ControlRequest.Kind kind)
    {
        return changes(kind) ? ControlRequest.Status.OUTCOME_UNKNOWN : ControlRequest.Status.REFUSED;
    }

    static Object result(
        final ControlRequest request, final ControlMessageDescriptor.Answer answer, final List<String> names)
    {
        if (ControlRequest.Status.OK != answer.status())
        {
            return null;
        }
        return switch (request.kind())
        {
            case FIND_TABLE, CREATE_TABLE -> new TableReference(request.tableName(), answer.tableId());
            case LIST_TABLES -> List.copyOf(names);
            default -> null;
        };
    }
}

package io.verbena.protocol.remote;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.TableReference;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A node that keeps records in a map, and answers when it is told to. */
final class StubEndpoint implements ComputeEndpoint
{
    final Map<String, byte[]> records = new HashMap<>();
    final ArrayDeque<NodeRequest> taken = new ArrayDeque<>();
    List<String> tables = List.of();
    int status = ACCEPTED;
    /** A fault: operations get an answer that cannot be written into a message. */
    boolean answersNothing;
    boolean isHolding;
    long version = 100;
    /** Of the last table that was made. */
    int copies;
    OperationRequest last;

    @Override
    public int id()
    {
        return 1;
    }

    @Override
    public int submit(final NodeRequest request)
    {
        if (ACCEPTED == status)
        {
            request.queue();
            taken.add(request);
        }
        return status;
    }

    void answerAll()
    {
        while (!isHolding && !taken.isEmpty())
        {
            final NodeRequest request = taken.poll();
            if (!request.start())
            {
                continue;
            }
            if (request instanceof final OperationRequest operation)
            {
                answer(operation);
            }
            else
            {
                answer((ControlRequest)request);
            }
            request.complete();
        }
    }

    private void answer(final OperationRequest request)
    {
        last = request;
        if (answersNothing)
        {
            request.answer(null, null, 0, null);
            return;
        }
        final String key = new String(request.key(), StandardCharsets.ISO_8859_1);
        final byte[] before = records.get(key);
        switch (request.kind())
        {
            case GET -> request.answer(
                null == before ? OperationAnswer.NOT_FOUND : OperationAnswer.FOUND, before, null == before ? 0 : 5,
                null);
            case EXISTS -> request.answer(
                null == before ? OperationAnswer.NOT_FOUND : OperationAnswer.FOUND, null, 0, null);
            case PUT ->
            {
                records.put(key, request.value());
                request.answer(OperationAnswer.STORED, null, ++version, null);
            }
            case DELETE -> request.answer(
                null == records.remove(key) ? OperationAnswer.NOT_FOUND : OperationAnswer.DELETED, null, 0, null);
            default -> request.answer(
                OperationAnswer.VERSION_MISMATCH, null, request.operand() + 1, "detail of " + request.kind());
        }
        request.cost(3, 2, 1);
    }

    private void answer(final ControlRequest request)
    {
        switch (request.kind())
        {
            case FIND_TABLE -> request.answer(ControlRequest.Status.NOT_FOUND, null, "no such table");
            case CREATE_TABLE ->
            {
                copies = request.copies();
                request.answer(ControlRequest.Status.OK,
                    new TableReference(request.tableName(), (int)request.expectedRecords()), null);
            }
            case LIST_TABLES -> request.answer(ControlRequest.Status.OK, tables, null);
            default -> request.answer(ControlRequest.Status.OK, null, null);
        }
    }
}

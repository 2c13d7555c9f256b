package io.verbena.compute.request;

import io.verbena.compute.catalog.CallerTurns;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.figures.OperationFigures;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.request.CountPage;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.table.TableEngine;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.scan.TableScan;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * Requests for ranges of tables: one at a time goes to the engine's scan, others wait. Where there are users these
 * take turns, with a part of a range each; else all wait in their order. Owned by the node's thread.
 */
final class ScanDispatcher
{
    /** @param share of its user; null: it has none. */
    private record Waiting(OperationRequest request, OpenTable table, UserShare share)
    {
    }

    private final NanoClock clock;
    private final UnexpectedFailures failures;
    private final OperationFigures figures;
    private final CallerTurns<Waiting> waiting = new CallerTurns<>();
    private final RecordPage page = new RecordPage();
    private TableScan scan;
    private TableRegistry tables;
    private Waiting current;
    private long beganNs;

    ScanDispatcher(final NanoClock clock, final UnexpectedFailures failures, final OperationFigures figures)
    {
        this.figures = figures;
        this.failures = failures;
        this.clock = clock;
    }

    void open(final TableEngine engine, final TableRegistry registry)
    {
        tables = registry;
        scan = engine.scan();
    }

    /** @return requests not answered. */
    int active()
    {
        return waiting.size() + (null == current ? 0 : 1);
    }

    void accept(final OperationRequest request, final OpenTable table, final UserShare share)
    {
        if (null != share)
        {
            share.onScanBegun();
        }
        waiting.add(share, new Waiting(request, table, share));
        poll();
    }

    private void endShare(final Waiting ended, final int foundBytes)
    {
        if (null != ended.share())
        {
            ended.share().onScanEnded(foundBytes, clock.nanoTime());
        }
    }

    /** @return ranges begun or ended. */
    int poll()
    {
        int workCount = 0;
        if (null != current && !scan.isRunning())
        {
            final Waiting ended = current;
            current = null;
            answerOrFail(ended.request(), ended.table());
            endShare(ended, ended.request().foundLength());
            ended.request().complete();
            workCount++;
        }
        while (null == current && !waiting.isEmpty() && !scan.isBusy())
        {
            begin(waiting.poll());
            workCount++;
        }
        return workCount;
    }

    private void begin(final Waiting next)
    {
        final OperationRequest request = next.request();
        if (request.deadlineNs() - clock.nanoTime() <= 0)
        {
            OperationAnswers.refuse(request, OperationAnswer.TIMED_OUT, null, figures);
        }
        else if (next.table().isClosed())
        {
            final String why = tables.whyUnreadable(request.table().id());
            OperationAnswers.refuse(
                request, null == why ? OperationAnswer.NO_SUCH_TABLE : OperationAnswer.UNREACHABLE, why, figures);
        }
        else if (request.start())
        {
            current = next;
            beganNs = clock.nanoTime();
            page.clear();
            begin(request, next.table());
        }
        if (current != next)
        {
            endShare(next, 0);
        }
    }

    /** A range that cannot begin has changed nothing in the engine: its request fails alone. */
    private void begin(final OperationRequest request, final OpenTable table)
    {
        try
        {
            scan.begin(table, request.operand(), request.deadlineNs(),
                RequestKind.SCAN == request.kind() ? this::onRecord : null);
        }
        catch (final RuntimeException ex)
        {
            current = null;
            count(request, OperationAnswer.UNREACHABLE);
            request.answer(OperationAnswer.UNREACHABLE, null, 0, failures.onFailure(request, ex));
            request.complete();
        }
    }

    private boolean onRecord(final DirectBuffer block, final int offset, final long behind)
    {
        return page.add(block, offset + BlockDescriptor.KEY_OFFSET, BlockDescriptor.keyLength(block, offset),
            BlockDescriptor.valueLength(block, offset), BlockDescriptor.version(block, offset), behind,
            BlockDescriptor.expiryMs(block, offset));
    }

    private void count(final OperationRequest request, final OperationAnswer answer)
    {
        figures.answered(request.kind(), answer, clock.nanoTime() - beganNs);
    }

    private void answerOrFail(final OperationRequest request, final OpenTable table)
    {
        count(request, OperationAnswers.answerOf(scan.result()));
        try
        {
            answer(request, table);
        }
        catch (final RuntimeException ex)
        {
            request.answer(OperationAnswer.UNREACHABLE, null, 0, failures.onFailure(request, ex));
        }
    }

    private void answer(final OperationRequest request, final OpenTable table)
    {
        final OperationAnswer answer = OperationAnswers.answerOf(scan.result());
        if (OperationResult.FOUND != scan.result())
        {
            request.answer(answer, null, 0, OperationAnswers.detailOf(scan.result()));
        }
        else
        {
            request.answer(answer, RequestKind.SCAN == request.kind() ? page.toByteArray() : new CountPage(
                scan.recordCount(), scan.tentativeCount(), scan.blockBytes(), table.slotCount(), table.subtableCount(),
                table.deepest(), scan.splitCount(), scan.frozenCount(), scan.uninitialisedCount(),
                table.falseMatches(), table.pairsHelped()).toByteArray(), scan.position(), null);
        }
        request.cost(scan.verbs(), scan.doorbells(), scan.doorbells());
    }

    /** Answers everything that is left: the engine was closed. */
    void close(final String detail)
    {
        if (null != current)
        {
            if (NodeRequest.STARTED == current.request().state())
            {
                count(current.request(), OperationAnswer.UNREACHABLE);
                current.request().answer(OperationAnswer.UNREACHABLE, null, 0, detail);
                current.request().complete();
            }
            endShare(current, 0);
            current = null;
        }
        waiting.drain((left) ->
        {
            endShare(left, 0);
            OperationAnswers.refuse(left.request(), OperationAnswer.NOT_SERVING, detail, figures);
        });
    }
}

package io.verbena.compute.control;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Kind;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.request.NodeRequest;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class ControlTasksTest
{
    private static final long LONG_NS = 1_000_000_000;

    private static final class Request extends ControlRequest
    {
        Request(final Kind kind, final long deadlineNs)
        {
            super(kind, null, 0, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            // polled
        }
    }

    private final MemoryRig rig = new MemoryRig();
    private final UnexpectedFailures failures = new UnexpectedFailures(rig.meta.world.clock());
    private final ControlTasks tasks = new ControlTasks(new TableTasks(rig.parts,
        new TableRegistry(rig.meta.link, rig.engine::openTable, () -> 0, LONG_NS, failures), rig.links(), rig.chunks,
        (table, newestLease) -> { }, new SplittableRandom(1), false), failures);
    private final List<Request> requests = new ArrayList<>();

    @AfterEach
    void close()
    {
        rig.close();
    }

    private Request ask(final Kind kind, final long timeoutNs)
    {
        final Request request = new Request(kind, rig.meta.nowNs() + timeoutNs);
        request.queue();
        tasks.accept(request, rig.meta.nowNs());
        requests.add(request);
        return request;
    }

    private void askMany(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            ask(Kind.LIST_TABLES, LONG_NS);
        }
    }

    private long count(final int state)
    {
        return requests.stream().filter((request) -> state == request.state()).count();
    }

    @Test
    void shouldBeginSixteenAndTheOthersWhenThoseHaveEnded()
    {
        final int most = ControlTasks.MAX_RUNNING;
        askMany(most + 3);
        assertThat(count(NodeRequest.STARTED)).isEqualTo(most);
        assertThat(requests.getLast().state()).isEqualTo(NodeRequest.QUEUED);
        assertThat(requests.getLast().withdraw()).as("not begun").isTrue();
        assertThat(tasks.isEmpty()).isFalse();
        rig.meta.answer("tables", (arguments) -> new TablePage(List.of("t"), false));
        rig.meta.run(tasks::poll);
        rig.meta.runUntil(tasks::isEmpty);
        assertThat(requests.subList(0, most + 2)).allMatch((request) -> Status.OK == request.status());
        assertThat(rig.meta.count("tables")).as("not for the one that was withdrawn").isEqualTo(most + 2);
    }

    @Test
    void shouldRefuseWhatWaitedUntilItsDeadlineAndNothingElse()
    {
        rig.meta.silent(true);
        askMany(ControlTasks.MAX_RUNNING);
        final Request late = ask(Kind.LIST_TABLES, 2_000_000);
        final Request patient = ask(Kind.LIST_TABLES, LONG_NS);
        final Request later = ask(Kind.LIST_TABLES, 3_500_000);
        final long beganNs = rig.meta.nowNs();
        tasks.poll(beganNs + 1_999_999);
        assertThat(late.state()).isEqualTo(NodeRequest.QUEUED);
        tasks.poll(beganNs + 3_000_000);
        assertThat(late.status()).isEqualTo(Status.TIMED_OUT);
        assertThat(late.detail()).contains("waited for other requests");
        tasks.poll(beganNs + 4_100_000);
        assertThat(later.status()).isEqualTo(Status.TIMED_OUT);
        assertThat(patient.state()).isEqualTo(NodeRequest.QUEUED);
        assertThat(count(NodeRequest.STARTED)).isEqualTo(ControlTasks.MAX_RUNNING);
    }

    @Test
    void shouldFinishWhatHasBegunAndRefuseTheRestWhenTheNodeLeaves()
    {
        askMany(ControlTasks.MAX_RUNNING + 2);
        tasks.leave();
        assertThat(requests.subList(ControlTasks.MAX_RUNNING, requests.size()))
            .allMatch((request) -> Status.NOT_SERVING == request.status() && "node leaves".equals(request.detail()));
        rig.meta.run(tasks::poll);
        rig.meta.runUntil(tasks::isEmpty);
        assertThat(requests.subList(0, ControlTasks.MAX_RUNNING)).allMatch((request) -> Status.OK == request.status());
    }

    @Test
    void shouldAnswerEverythingWhenTheNodeStops()
    {
        askMany(ControlTasks.MAX_RUNNING + 2);
        tasks.close();
        assertThat(tasks.isEmpty()).isTrue();
        assertThat(requests).allMatch((request) -> NodeRequest.DONE == request.state() &&
            Status.NOT_SERVING == request.status() && "node stops".equals(request.detail()));
    }

    /** A kind that is answered elsewhere: nobody else is harmed. */
    @Test
    void shouldFailARequestThatMeetsAnExceptionAlone()
    {
        final Request broken = ask(Kind.SPACE, LONG_NS);
        assertThat(broken.status()).isEqualTo(Status.REFUSED);
        assertThat(broken.detail()).contains("failed on this request");
        assertThat(failures.requestCount()).isEqualTo(1);
        final Request whole = ask(Kind.LIST_TABLES, LONG_NS);
        rig.meta.run(tasks::poll);
        rig.meta.runUntil(tasks::isEmpty);
        assertThat(whole.status()).isEqualTo(Status.OK);
    }
}

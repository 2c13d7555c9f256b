package io.verbena.resp.session;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.identity.PeerIdentity;

import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.agrona.concurrent.NanoClock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * What the sessions of one network thread share: operations for them, and the way to the node and back. The node's
 * thread leaves answers in a queue, and wakes the network thread once for all that it finds there; unless one thread is
 * both, see {@link #drive()}. Owned by the network thread, but for {@link #onAnswered} and the figures.
 */
public final class Worker implements TableOperation.Node
{
    /** Operations of all sessions under way at once: more wait for one of these. */
    public static final int OPERATIONS = 1024;
    private static final VarHandle COMMAND_COUNT;

    static
    {
        try
        {
            COMMAND_COUNT = MethodHandles.lookup().findVarHandle(Worker.class, "commandCount", long.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final ComputeEndpoint endpoint;
    private final NanoClock clock;
    private final Runnable wakeNode;
    private final Executor thread;
    private final ServedPort port;
    private final SessionSettings settings;
    private final ManyToOneConcurrentArrayQueue<TableOperation> answered =
        new ManyToOneConcurrentArrayQueue<>(OPERATIONS);
    private final UserChecks users = new UserChecks();
    private final AtomicBoolean isWoken = new AtomicBoolean();
    private final Runnable takeAnswers = this::takeAnswers;
    /** Answers that the node gave on the network thread itself. */
    private final ArrayDeque<TableOperation> ready = new ArrayDeque<>(OPERATIONS);
    private final ArrayList<TableOperation> free = new ArrayList<>(OPERATIONS);
    private final ArrayList<TableOperation.Owner> touched = new ArrayList<>();
    private final ArrayDeque<TableOperation.Owner> waiting = new ArrayDeque<>();
    private final Map<String, TableReference> tables = new HashMap<>();
    private long tablesCheckedNs;
    private long nowNs;
    private int handedOver;
    /** The network thread, where it runs the node as well; else null. */
    private Thread driver;
    private boolean isServing;
    @SuppressWarnings("unused") // through COMMAND_COUNT
    private long commandCount;

    private final class TableQuestion extends ControlRequest
    {
        private final Runnable after;

        TableQuestion(final Kind kind, final String name, final long deadlineNs, final Runnable after)
        {
            super(kind, name, 0, deadlineNs);
            this.after = after;
        }

        @Override
        protected void onDone()
        {
            thread.execute(after);
        }
    }

    /**
     * @param endpoint of the node.
     * @param clock    of the node's deadlines.
     * @param wakeNode makes the node's thread look for requests; called after some were left.
     * @param thread   runs things on the network thread.
     * @param port     that is served.
     * @param settings of all sessions.
     */
    public Worker(
        final ComputeEndpoint endpoint, final NanoClock clock, final Runnable wakeNode,
        final Executor thread, final ServedPort port, final SessionSettings settings)
    {
        this.endpoint = endpoint;
        this.clock = clock;
        this.wakeNode = wakeNode;
        this.thread = thread;
        this.port = port;
        this.settings = settings;
        look();
        for (int i = 0; i < OPERATIONS; i++)
        {
            free.add(new TableOperation(this));
        }
    }

    /** @return the settings. */
    public SessionSettings settings()
    {
        return settings;
    }

    /** @return the clock of deadlines. */
    public NanoClock clock()
    {
        return clock;
    }

    /** @return who may do what at the node now. */
    public AccessRules access()
    {
        return endpoint.access();
    }

    /**
     * Checks the secret of a user on a thread of its own, since that is slow.
     *
     * @param name   of the user.
     * @param secret as the client gave it.
     * @param taker  gets the identity of the user, on the network thread; null when it is not the secret of one.
     * @return false when so many checks wait already that this one is not begun.
     */
    public boolean check(final String name, final String secret, final Consumer<PeerIdentity> taker)
    {
        return users.check(endpoint.access(), name, secret, (identity) -> thread.execute(() ->
        {
            look();
            taker.accept(identity);
            wakeNode();
        }));
    }

    /** @return what is known of the port. */
    public ServedPort port()
    {
        return port;
    }

    /** @return the clock at the last look. */
    long nowNs()
    {
        return nowNs;
    }

    /** Looks at the clock, for all that begins until the next look. */
    void look()
    {
        nowNs = clock.nanoTime();
    }

    private long deadlineNs()
    {
        return nowNs + settings.timeoutNs();
    }

    /** @return an operation to be used, or null when all are: then the session waits, and is resumed. */
    TableOperation take(final TableOperation.Owner session, final TableReference table)
    {
        if (free.isEmpty())
        {
            if (!session.isWaiting)
            {
                session.isWaiting = true;
                waiting.add(session);
            }
            return null;
        }
        final TableOperation operation = free.removeLast();
        operation.begin(session, table, deadlineNs());
        return operation;
    }

    /** Takes an operation back whose command is over. */
    void release(final TableOperation operation)
    {
        operation.end();
        // One that its node withdrew may still be in a queue: it is never used again.
        free.add(operation.isAbandoned() ? new TableOperation(this) : operation);
    }

    /** Hands an operation to the node; {@link #wakeNode()} follows when no more of them come. */
    @Override
    public void submit(final TableOperation operation)
    {
        final int status = endpoint.submit(operation);
        if (ComputeEndpoint.ACCEPTED == status)
        {
            handedOver++;
        }
        else
        {
            operation.fail(Failures.notTaken(ComputeEndpoint.FULL == status));
            onAnswered(operation);
        }
    }

    /**
     * The calling thread runs the node as well from now on: what is handed over is served at once by
     * {@code wakeNode}, and answers come within it.
     */
    public void drive()
    {
        driver = Thread.currentThread();
    }

    /** Lets the node look for what was handed over since; where this thread runs it, until it awaits others. */
    void wakeNode()
    {
        if (null == driver)
        {
            if (handedOver > 0)
            {
                handedOver = 0;
                wakeNode.run();
            }
        }
        else if (!isServing)
        {
            isServing = true;
            try
            {
                serveNode();
            }
            finally
            {
                isServing = false;
            }
        }
    }

    private void serveNode()
    {
        while (handedOver > 0)
        {
            handedOver = 0;
            wakeNode.run();
            takeReady();
        }
    }

    /** Any thread: there is an answer. */
    @Override
    public void onAnswered(final TableOperation operation)
    {
        if (Thread.currentThread() == driver)
        {
            ready.add(operation);
            return;
        }
        // There is room: the queue has a place for each operation.
        answered.offer(operation);
        if (!isWoken.get() && isWoken.compareAndSet(false, true))
        {
            try
            {
                thread.execute(takeAnswers);
            }
            catch (final RejectedExecutionException ex)
            {
                // The port was closed, and its connections with it: nobody waits for the answer.
                isWoken.set(false);
            }
        }
    }

    private void takeAnswers()
    {
        isWoken.set(false);
        look();
        TableOperation operation;
        while (null != (operation = answered.poll()))
        {
            take(operation);
        }
        proceedTouched();
        resumeWaiting();
        wakeNode();
    }

    /**
     * Takes the answers that the node has given on this thread, where it drives; replies go out, and more is served.
     *
     * @return answers taken.
     */
    public int takeReady()
    {
        int taken = 0;
        while (!ready.isEmpty())
        {
            look();
            while (!ready.isEmpty())
            {
                take(ready.poll());
                taken++;
            }
            proceedTouched();
            resumeWaiting();
            wakeNode();
        }
        return taken;
    }

    private void take(final TableOperation operation)
    {
        final TableOperation.Owner session = operation.owner;
        session.onAnswer(operation);
        if (!session.isTouched)
        {
            session.isTouched = true;
            touched.add(session);
        }
    }

    private void proceedTouched()
    {
        for (int i = 0; i < touched.size(); i++)
        {
            final TableOperation.Owner session = touched.get(i);
            session.isTouched = false;
            session.proceed();
        }
        touched.clear();
    }

    private void resumeWaiting()
    {
        for (int left = waiting.size(); left > 0 && !free.isEmpty(); left--)
        {
            final TableOperation.Owner session = waiting.poll();
            session.isWaiting = false;
            session.proceed();
        }
    }

    /**
     * Finds a table.
     *
     * @param name   of the table.
     * @param caller for whom; who may not use a table that others have found learns it with the first operation.
     * @param taker  gets the table, at once or later on this thread; null when there is none; or an error instead.
     */
    void find(final String name, final PeerIdentity caller, final TableTaker taker)
    {
        if (nowNs - tablesCheckedNs > settings.tableCacheNs())
        {
            tablesCheckedNs = nowNs;
            tables.clear();
        }
        final TableReference known = tables.get(name);
        if (null != known)
        {
            taker.onTable(known, null);
            return;
        }
        ask(ControlRequest.Kind.FIND_TABLE, name, caller, (answer) ->
        {
            if (ControlRequest.Status.OK == answer.status())
            {
                tables.put(name, (TableReference)answer.result());
                taker.onTable((TableReference)answer.result(), null);
            }
            else if (ControlRequest.Status.PERMISSION_DENIED == answer.status())
            {
                taker.onTable(null, Failures.noPermission(answer.detail()));
            }
            else
            {
                taker.onTable(null, ControlRequest.Status.NOT_FOUND == answer.status() ? null :
                    "ERR table cannot be found now: " + answer.status() +
                    (null == answer.detail() ? "" : ", " + answer.detail()));
            }
        });
    }

    /** Forgets a table that was dropped. */
    void forget(final TableReference table)
    {
        tables.remove(table.name(), table);
    }

    /**
     * Asks the node about tables.
     *
     * @param kind   of question.
     * @param name   of a table, or null.
     * @param caller for whom; null: for this process.
     * @param taker  gets the answered question, on this thread.
     */
    public void ask(
        final ControlRequest.Kind kind, final String name, final PeerIdentity caller,
        final Consumer<ControlRequest> taker)
    {
        final ControlRequest[] question = new ControlRequest[1];
        question[0] = new TableQuestion(kind, name, deadlineNs(), () ->
        {
            look();
            taker.accept(question[0]);
            wakeNode();
        });
        question[0].caller(caller);
        if (ComputeEndpoint.ACCEPTED == endpoint.submit(question[0]))
        {
            handedOver++;
        }
        else
        {
            final TableQuestion refused = new TableQuestion(kind, name, 0, () -> { });
            refused.answer(ControlRequest.Status.NOT_SERVING, null, OperationAnswer.NOT_SERVING.name());
            thread.execute(() -> taker.accept(refused));
        }
    }

    /** Takes a table, or what is wrong. */
    interface TableTaker
    {
        /**
         * By the network thread.
         *
         * @param table found, or null.
         * @param error why that is not known, or null.
         */
        void onTable(TableReference table, String error);
    }

    void countCommand()
    {
        COMMAND_COUNT.setOpaque(this, (long)COMMAND_COUNT.getOpaque(this) + 1); // one thread writes
    }

    /** @return commands of all its sessions so far; any thread. */
    public long commandCount()
    {
        return (long)COMMAND_COUNT.getOpaque(this);
    }

    /** @return operations under way. */
    public int underWay()
    {
        return OPERATIONS - free.size();
    }

    @Override
    public String toString()
    {
        return "Worker{underWay=" + underWay() + ", commands=" + commandCount() + '}';
    }
}

package io.verbena.resp.session;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.resp.codec.MemoryBudget;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;

/**
 * What one client is served with: its commands in their order, many operations of them under way at once, and the
 * replies in that order. An operation waits for an earlier one on the same key where one of the two
 * writes, so that a pipeline means what it would mean one command at a time; operations on different keys run beside
 * each other. Everything else waits until all before it is answered. By the thread of its worker.
 */
public final class Session extends TableOperation.Owner
{
    /** The command that has the session for itself; see {@link Task}. */
    public interface Running
    {
        void proceed(Session session);

        void onAnswer(Session session, TableOperation operation);

        void onClosed(Session session);
    }

    /** Bytes that may wait here while commands cannot begin: then the client is not read. */
    private static final int MAX_WAITING_BYTES = 64 * 1024;

    private final Worker worker;
    private final CommandTable<Session> commands;
    private final Transport transport;
    private final SessionState state;
    private final RespDecoder arguments;
    private final ReplyStream replies;
    private final RespWriter writer;
    private final PauseWait pause;
    private final OperationWindow window = new OperationWindow();
    private TableReference table;
    private Command<Session> command;
    private Running task;
    private boolean isHeld;
    private boolean isStopped;
    private boolean isEnded;
    private boolean isClosed;
    private boolean isReading = true;
    private boolean isBusy;
    private boolean isCalledAgain;
    /** Whether commands are refused that arrived together with one whose refusal their client had not read yet. */
    private boolean isRefusing;
    private boolean isReceiving;

    /**
     * @param worker    of the thread.
     * @param commands  that it knows.
     * @param transport that carries it.
     * @param state     of the client.
     * @param budget    for its buffers.
     */
    public Session(final Worker worker, final CommandTable<Session> commands, final Transport transport,
        final SessionState state, final MemoryBudget budget)
    {
        this.worker = worker;
        this.commands = commands;
        this.transport = transport;
        this.state = state;
        arguments = new RespDecoder(budget, worker.settings().maxCommandBytes());
        replies = new ReplyStream(transport, budget, worker.settings().maxOutputBytes());
        writer = replies.writer();
        pause = new PauseWait(worker.port().pause(), transport, this::resume);
        arguments.restrict(isStranger());
    }

    /** @return for whom its operations are. */
    public PeerIdentity caller()
    {
        return caller;
    }

    /** @return whether it has given neither password nor user where one of them is needed. */
    public boolean isStranger()
    {
        return !state.isAuthenticated() || PeerIdentity.CLIENT.equals(caller) && worker.access().isEnforced();
    }

    /** @return arguments of the command that begins, or of the task under way. */
    public RespDecoder arguments()
    {
        return arguments;
    }

    /** @return takes the reply of a command that begins no operation. */
    public RespWriter writer()
    {
        return writer;
    }

    /** @return a writer for a part of a reply whose length must be known before; closed by the caller. */
    public RespWriter spareWriter()
    {
        return replies.spare();
    }

    /** @return whether and how replies go to the client. */
    public ReplyStream replies()
    {
        return replies;
    }

    /** @return worker of its thread. */
    public Worker worker()
    {
        return worker;
    }

    /** @return what is known of the client. */
    public SessionState state()
    {
        return state;
    }

    /** @return all commands. */
    public CommandTable<Session> commands()
    {
        return commands;
    }

    /** @return what carries it. */
    public Transport transport()
    {
        return transport;
    }

    /** @return the selected table, where the command needs one. */
    public TableReference table()
    {
        return table;
    }

    /**
     * Finds the selected table for a command that needs it with some arguments only.
     *
     * @return whether it is known; if not, the error is written, or the command begins again when it is.
     */
    public boolean hasTable()
    {
        if (null == table)
        {
            findTable();
        }
        return null != table;
    }

    /** @return operations under way. */
    public int underWay()
    {
        return window.count();
    }

    /** Begins what has arrived, and sends what can be replied. After bytes were received. */
    public void onReceived()
    {
        isReceiving = true;
        worker.look();
        proceed();
        worker.wakeNode();
    }

    /** All is here that had arrived. */
    public void onReceivedAll()
    {
        isReceiving = false;
        endRefusing();
    }

    private void endRefusing()
    {
        if (isRefusing && !isReceiving && !isHeld && 0 == arguments.bufferedBytes())
        {
            isRefusing = false;
        }
    }

    /** @param isBegun whether commands that arrived with the present one are refused, too, until one that ends it. */
    public void refuseTransaction(final boolean isBegun)
    {
        isRefusing = isBegun;
    }

    /** Goes on wherever it stands. */
    @Override
    void proceed()
    {
        // The transport calls within its own call, when a reply fills it and it is empty again at once: that reply must
        // not be sent a second time.
        isCalledAgain = isBusy;
        if (isBusy || isClosed)
        {
            return;
        }
        isBusy = true;
        do
        {
            isCalledAgain = false;
            proceedOnce();
        }
        while (isCalledAgain && !isClosed);
        isBusy = false;
    }

    private void proceedOnce()
    {
        drain();
        if (null != task && !isWaiting)
        {
            task.proceed(this);
        }
        while (canBegin())
        {
            begin();
            drain();
            if (null == task)
            {
                replies.sendMuch();
            }
        }
        flush();
        final boolean isWanted = !isClosed && !isStopped && null == arguments.error() && transport.isWritable() &&
            (!isBlocked() || arguments.bufferedBytes() < MAX_WAITING_BYTES);
        if (isWanted != isReading && !isClosed)
        {
            isReading = isWanted;
            transport.read(isWanted);
        }
    }

    private boolean isBlocked()
    {
        return isHeld || null != task || isWaiting;
    }

    private boolean canBegin()
    {
        if (isStopped || isClosed || null != task || isWaiting || writer.isOverflown() || !transport.isWritable())
        {
            return false;
        }
        if (isHeld)
        {
            return !mustWait();
        }
        final int next = arguments.next();
        if (RespDecoder.MALFORMED == next)
        {
            replies.onCommand();
            command = null;
            isHeld = true;
            return !mustWait();
        }
        if (RespDecoder.NEEDS_MORE == next)
        {
            isStopped |= isEnded;
            endRefusing();
            return false;
        }
        worker.countCommand();
        replies.onCommand();
        command = arguments.isKept(0) ?
            commands.find(arguments.array(), arguments.offset(0), arguments.length(0)) : null;
        isHeld = true;
        return !mustWait();
    }

    /** Whether the present command cannot begin beside what is under way. */
    private boolean mustWait()
    {
        if (null != command && !command.isWrongCount(arguments.count()) && pause.holds(command, worker.nowNs()))
        {
            return true;
        }
        if (window.isEmpty())
        {
            return false;
        }
        if (replies.mustWait() || null == command || !command.isOneOperation(arguments.count()) ||
            command.isWrongCount(arguments.count()) || window.isFull() || null == table ||
            !arguments.isKept(command.firstKey()))
        {
            return true;
        }
        final int key = command.firstKey();
        final long hash = TableOperation.hash(arguments.array(), arguments.offset(key), arguments.length(key));
        return window.hasConflict(hash, command.isWrite());
    }

    private void begin()
    {
        isHeld = false;
        replies.onBegin();
        final String refusal = refusal();
        if (null != refusal)
        {
            writer.error(refusal);
        }
        else if (command.needsTable() && null == table)
        {
            findTable();
        }
        else
        {
            final int before = underWay();
            state.lastCommand(command, worker.nowNs());
            command.action().accept(this);
            // No operation was left: the same command begins again when one is.
            isHeld = isWaiting && null == task && before == underWay();
        }
    }

    private String refusal()
    {
        if (null != arguments.error())
        {
            isStopped = true;
            return "ERR " + arguments.error();
        }
        if (null == command)
        {
            return Failures.unknown(arguments);
        }
        if (arguments.count() < 1 || command.isWrongCount(arguments.count()))
        {
            return "ERR wrong number of arguments for '" + command.lowerName() + "' command";
        }
        if (isStranger() && Command.Kind.UNAUTHENTICATED != command.kind())
        {
            return "NOAUTH Authentication required.";
        }
        if (isRefusing && !command.flags().contains("transaction"))
        {
            return "ERR not executed: it came with MULTI, which is not supported";
        }
        return command.isOneOperation(arguments.count()) ? keyRefusal(command.firstKey()) : null;
    }

    /** @return why an argument cannot be a key, or null. */
    public String keyRefusal(final int i)
    {
        final int length = arguments.length(i);
        return length >= 1 && length <= RequestLimits.MAX_KEY_BYTES ? null : "ERR key has " + length +
            " bytes: 1 to " + RequestLimits.MAX_KEY_BYTES + " are possible";
    }

    /** @return why an argument cannot be a value, or null. */
    public String valueRefusal(final int i)
    {
        final int length = arguments.length(i);
        return length <= RequestLimits.MAX_VALUE_BYTES ? null : "ERR value has " + length + " bytes: at most " +
            RequestLimits.MAX_VALUE_BYTES + " are possible";
    }

    private void findTable()
    {
        isHeld = true;
        isWaiting = true;
        final String name = state.tableName();
        worker.find(name, caller, (found, error) ->
        {
            isWaiting = false;
            table = found;
            if (null == found)
            {
                isHeld = false;
                writer.error(null != error ? error :
                    "ERR there is no table \"" + name + "\": make it, or SELECT another");
            }
            proceed();
        });
    }

    /**
     * Selects a table for the commands that follow.
     *
     * @param found by its name.
     */
    public void select(final TableReference found)
    {
        table = found;
        state.tableName(found.name());
    }

    /** Forgets which table the name of the selected one names. */
    public void unselect()
    {
        table = null;
    }

    /**
     * Begins the operation of a command; the action asks it something next.
     *
     * @param steps that take its answers.
     * @return the operation, its key is that of the command; null when none is left, and the command begins again.
     */
    public TableOperation operation(final OperationSteps steps)
    {
        final TableOperation operation = worker.take(this, table);
        if (null != operation)
        {
            operation.keyOf(arguments, command.firstKey());
            operation.isWrite = command.isWrite();
            window.add(operation, steps);
        }
        return operation;
    }

    /** Replies an error in the place of an operation that was not asked for anything. */
    public void refuse(final TableOperation operation, final String error)
    {
        operation.fail(error);
        operation.isReady = true;
    }

    /**
     * Takes an operation for the task under way, which gets its answers.
     *
     * @return null when none is left: the task proceeds when one is.
     */
    public TableOperation operation()
    {
        return operation(table);
    }

    /**
     * As {@link #operation()}, on another table than the selected one.
     *
     * @param other that table.
     * @return null when none is left: the task proceeds when one is.
     */
    public TableOperation operation(final TableReference other)
    {
        return worker.take(this, other);
    }

    /** Gives back an operation of a task. */
    public void release(final TableOperation operation)
    {
        worker.release(operation);
    }

    /** Begins a task; the arguments stay until it ends. */
    public void begin(final Running newTask)
    {
        task = newTask;
        newTask.proceed(this);
    }

    /** The task has written its reply. */
    public void endTask()
    {
        task = null;
    }

    /** The client sends nothing more: it is served with what it has sent, and then closed. */
    public void onEnd()
    {
        isEnded = true;
        onReceived();
    }

    /** Closes the connection when all that was replied has gone out; no further command begins. */
    public void closeAfterReplies()
    {
        isStopped = true;
    }

    /** Everything is as for a new connection. */
    public void reset()
    {
        state.reset();
        replies.reset();
        caller = PeerIdentity.CLIENT;
        writer.version(state.version());
        arguments.restrict(isStranger());
        table = null;
    }

    /**
     * The client has shown who it is.
     *
     * @param identity of a user; {@link PeerIdentity#OPERATOR} of who has the port's password.
     * @param name     of the user; {@link SessionState#DEFAULT_USER} without one.
     */
    public void authenticate(final PeerIdentity identity, final String name)
    {
        caller = identity;
        state.authenticate(name);
        arguments.restrict(isStranger());
    }

    /** @param version of the protocol from the next reply on, 2 or 3. */
    public void version(final int version)
    {
        state.version(version);
        writer.version(version);
    }

    /** @return whether the client has gone. */
    public boolean isClosed()
    {
        return isClosed;
    }

    @Override
    void onAnswer(final TableOperation operation)
    {
        if (null == operation.failure())
        {
            operation.fail(Failures.of(operation));
        }
        if (null != operation.failure() && OperationAnswer.NO_SUCH_TABLE == operation.answer() && null != table)
        {
            worker.forget(table);
            table = null;
        }
        if (TableOperation.OF_TASK == operation.place)
        {
            operation.isReady = true;
            if (isClosed)
            {
                worker.release(operation);
            }
            else
            {
                task.onAnswer(this, operation);
            }
            return;
        }
        // A command that was begun is finished, also when nobody waits for its reply.
        window.onAnswer(operation);
        if (isClosed)
        {
            drain();
        }
    }

    /** Writes the replies that are there, in their order. */
    private void drain()
    {
        if (isClosed)
        {
            window.discard(worker);
        }
        else
        {
            window.drain(writer, worker);
        }
    }

    private void flush()
    {
        if (!isClosed)
        {
            replies.flush(null == task, isStopped && window.isEmpty());
        }
    }

    /** Goes on: the client has read, so that more may be sent to it, or a task has ended by what is no operation. */
    public void resume()
    {
        worker.look();
        proceed();
        worker.wakeNode();
    }

    /** The connection is gone: operations under way end by themselves. Idempotent. */
    public void onClosed()
    {
        if (!isClosed)
        {
            isClosed = true;
            if (null != task)
            {
                task.onClosed(this);
                task = null;
            }
            pause.stop();
            arguments.close();
            replies.close();
            drain();
        }
    }

    @Override
    public String toString()
    {
        return "Session{" + state + ", underWay=" + underWay() + ", isHeld=" + isHeld + ", task=" + task + '}';
    }
}

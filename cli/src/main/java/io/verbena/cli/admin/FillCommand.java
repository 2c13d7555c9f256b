package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.SettingsProvider;
import io.verbena.protocol.view.GroupHealth;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;

import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** {@code verbena node fill}. */
@Command(
    name = "fill",
    description = "Give a memory node the copies that tables lack: it becomes a member of each group of memory nodes " +
        "that has fewer than its tables have copies. Others read and write meanwhile, but for a moment in the end.",
    defaultValueProvider = SettingsProvider.class)
final class FillCommand implements Callable<Integer>
{
    /** For one group; what has begun goes on. */
    private static final long MAX_WAIT_HOURS = 24;
    private static final long SAY_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long FILLING_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClientOptions clientOptions;

    @Parameters(paramLabel = "ID", description = "Of the memory node, as 'status' prints it.")
    private int nodeId;

    @Override
    public Integer call()
    {
        try (MetaCalls meta = clientOptions.openMeta())
        {
            requireMemoryNode(meta);
            final List<View> lacking =
                meta.views(clientOptions.timeoutNs()).stream().filter(this::lacksIt).toList();
            if (lacking.isEmpty())
            {
                say("no table lacks a copy that memory node %d could have%n", nodeId);
            }
            CommandFailedException failure = null;
            for (final View view : lacking)
            {
                failure = fillOrFail(meta, view.group(), failure);
            }
            if (null != failure)
            {
                throw failure;
            }
        }
        return ExitStatus.OK;
    }

    /** @return the first failure: others may be filled all the same. */
    private CommandFailedException fillOrFail(
        final MetaCalls meta, final int group, final CommandFailedException before)
    {
        try
        {
            fill(meta, group);
            return before;
        }
        catch (final CommandFailedException ex)
        {
            return null == before ? ex : before;
        }
    }

    private void requireMemoryNode(final MetaCalls meta)
    {
        if (meta.nodes(clientOptions.timeoutNs()).stream()
            .noneMatch((node) -> node.nodeId() == nodeId && NodeRole.MEMORY_NODE == node.role()))
        {
            throw new CommandFailedException(
                ExitStatus.FAILED, "node " + nodeId + " is no memory node that runs: 'status' lists these", null);
        }
    }

    private boolean lacksIt(final View view)
    {
        return view.lacksMember() && view.members().stream().noneMatch((member) -> member.nodeId() == nodeId);
    }

    private void fill(final MetaCalls meta, final int number)
    {
        final long startedNs = SystemNanoClock.INSTANCE.nanoTime();
        View last = meta.result((client) -> client.enterGroup(number, nodeId, clientOptions.timeoutNs()));
        View view = last;
        long sayNs = startedNs + SAY_PAUSE_NS;
        while (view.number() == last.number() && (isFilled(view) || ViewState.ACTIVE != view.state()))
        {
            last = isFilled(view) ? view : last;
            if (isFilled(view) && SystemNanoClock.INSTANCE.nanoTime() - sayNs >= 0)
            {
                sayProgress(meta, view);
                sayNs += SAY_PAUSE_NS;
            }
            if (SystemNanoClock.INSTANCE.nanoTime() - startedNs > TimeUnit.HOURS.toNanos(MAX_WAIT_HOURS))
            {
                throw new CommandFailedException(ExitStatus.UNKNOWN, "group " + number + " is not copied after " +
                    MAX_WAIT_HOURS + " hours: it goes on, 'status' shows it", null);
            }
            LockSupport.parkNanos(isFilled(view) ? FILLING_PAUSE_NS : PAUSE_NS);
            view = view(meta, number);
        }
        if (ViewState.ACTIVE != view.state() ||
            view.members().stream().noneMatch((member) -> member.nodeId() == nodeId))
        {
            throw new CommandFailedException(ExitStatus.FAILED, "memory node " + nodeId + " did not come into group " +
                number + ", which goes on as before: the log of compute node " + last.reconciler().nodeId() +
                " says why, if a node has not ended meanwhile", null);
        }
        say("group %d: copies are on memory nodes %s, after %.1f s%n", number, view.members().stream()
            .map(PeerIdentity::nodeId).map(String::valueOf).collect(Collectors.joining(", ")),
            (SystemNanoClock.INSTANCE.nanoTime() - startedNs) / 1e9);
    }

    private boolean isFilled(final View view)
    {
        return view.isFilling() && view.entering().nodeId() == nodeId;
    }

    private void sayProgress(final MetaCalls meta, final View view)
    {
        meta.result((client) -> client.fills(clientOptions.timeoutNs())).stream()
            .filter((fill) -> fill.attempt().equals(ViewAttempt.of(view))).findFirst()
            .ifPresent((fill) -> say("group %d: %s%n", view.group(), GroupHealth.text(fill)));
    }

    private View view(final MetaCalls meta, final int number)
    {
        return meta.views(clientOptions.timeoutNs()).stream().filter((view) -> view.group() == number).findFirst()
            .orElseThrow(() -> new CommandFailedException(ExitStatus.USAGE, "there is no group " + number, null));
    }

    private void say(final String format, final Object... arguments)
    {
        spec.commandLine().getOut().printf(Locale.ROOT, format, arguments);
        spec.commandLine().getOut().flush();
    }
}

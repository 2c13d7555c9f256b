package io.verbena.rdma.roce.device;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.Device;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs in a network namespace, one host of three on a switch. Writes to processes of the other two while they, their
 * links and addresses fail, and prints what becomes of it. Arguments: a directory, and for how long a link is cut, in
 * milliseconds.
 */
final class SocketFaultsMain
{
    private static final String FAR = "fd00:76::2";
    private static final String FAR_IPV4 = "10.76.66.2";
    private static final int KILLED_PORT = 4901;
    private static final int PORTS_BESIDE = 4902;
    private static final long PAUSE_MS = 300;
    private static final long DAD_MS = 30_000;

    private final NamespaceHost network = new NamespaceHost();
    private final NamespaceHost far = new NamespaceHost();
    private final NamespaceHost twin = new NamespaceHost();
    private final String directory;
    private final long cutMs;
    private final Device near;
    private final Device nearIpv4;

    private SocketFaultsMain(final String[] arguments)
    {
        directory = arguments[0];
        cutMs = Long.parseLong(arguments[1]);
        network.run("ip link add switch type bridge && ip link set switch up");
        NamespaceHost.output(List.of("sh", "-c", "ip link set lo up && " + plug("near", 1, network.pid())));
        network.run(portUp("near"));
        NamespaceHost.output(List.of("sh", "-c", addresses("near", 1)));
        join(far, "far", 2);
        join(twin, "twin", 3);
        near = open("fd00:76::1");
        nearIpv4 = open("10.76.66.1");
    }

    private Device open(final String address)
    {
        return Fabrics.open("roce:" + address + ",memory=" + directory).openDevice("near");
    }

    private String fabric(final String address, final int port)
    {
        return "roce:" + (address.indexOf('.') < 0 ? '[' + address + ']' : address) + ':' + port +
            ",memory=" + directory;
    }

    /** A link from this namespace to the switch; its own end has a MAC address that says which host it is. */
    private static String plug(final String name, final int number, final long network)
    {
        return "ip link add " + name + " address " + mac(number) + " type veth peer name p-" + name +
            " netns " + network;
    }

    private static String mac(final int number)
    {
        return "02:00:00:00:00:0" + number;
    }

    private static String portUp(final String name)
    {
        return "ip link set p-" + name + " master switch && ip link set p-" + name + " up";
    }

    private static String addresses(final String name, final int number)
    {
        return "ip link set " + name + " up && ip address add fd00:76::" + number + "/64 dev " + name +
            " nodad && ip address add 10.76.66." + number + "/24 dev " + name;
    }

    private void join(final NamespaceHost host, final String name, final int number)
    {
        host.run(plug(name, number, network.pid()));
        network.run(portUp(name));
        host.run(addresses(name, number));
    }

    public static void main(final String[] arguments) throws InterruptedException
    {
        new SocketFaultsMain(arguments).run();
        Runtime.getRuntime().halt(0);
    }

    private void run() throws InterruptedException
    {
        final SocketPeer killed = new SocketPeer(far, List.of(fabric(FAR, KILLED_PORT)));
        final SocketPeer paused = new SocketPeer(far, List.of(fabric(FAR, PORTS_BESIDE)));
        final SocketPeer others =
            new SocketPeer(far, List.of(fabric(FAR, PORTS_BESIDE + 1), fabric(FAR_IPV4, PORTS_BESIDE + 2)));
        twin.run("ip address add " + FAR_IPV4 + "/24 dev twin && ip address add " + FAR + "/64 dev twin");
        final SocketTarget toKilled = new SocketTarget("killed", near);
        final SocketTarget toPaused = new SocketTarget("paused", near);
        final SocketTarget toHalfOpen = new SocketTarget("half-open", near);
        final SocketTarget toTwice = new SocketTarget("address twice, IPv4", nearIpv4);
        toKilled.connectTo(killed);
        toPaused.connectTo(paused);
        toHalfOpen.connectTo(others);
        connectToRightTwin(toTwice, others);
        awaitDuplicateFound();
        final SocketPeer atTwin =
            new SocketPeer(twin, List.of(fabric(FAR, KILLED_PORT), fabric(FAR_IPV4, PORTS_BESIDE + 2)));
        toKilled.write("before");
        toPaused.writeInterrupted(() -> paused.stop(true), PAUSE_MS, () -> paused.stop(false));

        killed.kill();
        final SocketPeer reborn = new SocketPeer(far, List.of(fabric(FAR, KILLED_PORT), fabric(FAR, PORTS_BESIDE)));
        final SocketTarget toReborn = new SocketTarget("started again", near);
        toReborn.connectTo(reborn);
        say("port in use", reborn.line());
        say("address twice, IPv6", atTwin.line());
        say("address twice, IPv4", atTwin.line().replaceAll("open .*", "open there, too"));
        paused.stop(true);
        toHalfOpen.say(others.ask("close 0"));
        leadTo(3);
        final List<SocketTarget> silent = List.of(toKilled, toPaused, toHalfOpen, toTwice);
        silent.forEach(SocketTarget::post);
        silent.forEach(target -> target.await("during"));
        toReborn.say(reborn.ask("written 0"));
        toTwice.say(atTwin.ask("written 0"));
        paused.stop(false);
        leadTo(2);
        for (final SocketTarget target : List.of(toPaused, toHalfOpen, toTwice))
        {
            target.connect("again");
            target.write("again");
        }
        cutLink(reborn, toReborn);
    }

    private static void say(final String fault, final String what)
    {
        System.out.println(fault + ": " + what);
    }

    /** The neighbours of this host find that one first which they know. */
    private void connectToRightTwin(final SocketTarget target, final SocketPeer peer)
    {
        leadTo(2);
        target.connectTo(peer);
    }

    /** Packets to the IPv4 address that two hosts have go to this one. */
    private static void leadTo(final int number)
    {
        NamespaceHost.output(List.of("ip", "neigh", "replace", FAR_IPV4, "lladdr", mac(number), "dev", "near"));
    }

    private void awaitDuplicateFound()
    {
        final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DAD_MS);
        while (!twin.run("ip -6 address show dev twin").contains("dadfailed"))
        {
            if (System.nanoTime() - endNs > 0)
            {
                throw new AssertionError(twin.run("ip -6 address show dev twin"));
            }
            sleep(50);
        }
    }

    private void cutLink(final SocketPeer peer, final SocketTarget target)
    {
        target.writeInterrupted(() -> network.run("ip link set p-far down"), PAUSE_MS,
            () -> network.run("ip link set p-far up"));
        network.run("ip link set p-far down");
        final long startNs = System.nanoTime();
        target.post();
        target.connect("cut");
        target.await("cut");
        sleep(cutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs));
        network.run("ip link set p-far up");
        target.connect("again");
        target.write("again");
        target.say(peer.ask("written 0"));
    }

    private static void sleep(final long lengthMs)
    {
        final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lengthMs);
        for (long leftNs = endNs - System.nanoTime(); leftNs > 0; leftNs = endNs - System.nanoTime())
        {
            LockSupport.parkNanos(leftNs);
        }
    }
}

package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** A sound rig with a {@link Mutant} before each of its verbs objects. */
final class MutantRig implements VerbsRig
{
    private final Map<Object, Object> proxies = new IdentityHashMap<>();
    private final VerbsRig sound;
    private final Mutant mutant;

    MutantRig(final VerbsRig sound, final Mutant mutant)
    {
        this.sound = sound;
        this.mutant = mutant;
    }

    @Override
    public Device requester()
    {
        return (Device)wrapped(sound.requester());
    }

    @Override
    public Device responder()
    {
        return (Device)wrapped(sound.responder());
    }

    @Override
    public void progress()
    {
        sound.progress();
    }

    @Override
    public void settle()
    {
        sound.settle();
    }

    @Override
    public void pass(final long durationNs)
    {
        sound.pass(durationNs);
    }

    @Override
    public long connectTimeoutNs()
    {
        return sound.connectTimeoutNs();
    }

    @Override
    public void close()
    {
        sound.close();
    }

    private Object wrapped(final Object sound)
    {
        if (sound instanceof final AsyncEvent event)
        {
            return new AsyncEvent(event.type(), wrapped(event.source()));
        }
        if (sound == null || sound.getClass().isRecord() || contracts(sound).isEmpty())
        {
            return sound;
        }
        return proxies.computeIfAbsent(sound, target -> Proxy.newProxyInstance(
            MutantRig.class.getClassLoader(), contracts(target).toArray(new Class<?>[0]), new Wrapper(target)));
    }

    private static Object unwrapped(final Object value)
    {
        if (value != null && Proxy.isProxyClass(value.getClass()) &&
            Proxy.getInvocationHandler(value) instanceof final Wrapper wrapper)
        {
            return wrapper.target;
        }
        if (value instanceof final QueuePairOptions options)
        {
            return new QueuePairOptions().type(options.type()).capabilities(options.capabilities())
                .completions((CompletionQueue)unwrapped(options.sendCompletions()),
                    (CompletionQueue)unwrapped(options.receiveCompletions()))
                .sharedReceiveQueue(
                    (SharedReceiveQueue)unwrapped(options.sharedReceiveQueue()));
        }
        if (value instanceof final DcTargetOptions options)
        {
            return new DcTargetOptions(
                (CompletionQueue)unwrapped(options.receiveCompletions()),
                (SharedReceiveQueue)unwrapped(options.sharedReceiveQueue()),
                options.accessKey(), options.accessFlags(), options.maxReadAtomic());
        }
        return value;
    }

    private static List<Class<?>> contracts(final Object object)
    {
        final List<Class<?>> found = new ArrayList<>();
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass())
        {
            for (final Class<?> candidate : type.getInterfaces())
            {
                if (candidate.getPackage() == Device.class.getPackage() && !found.contains(candidate))
                {
                    found.add(candidate);
                }
            }
        }
        return found;
    }

    private final class Wrapper implements InvocationHandler
    {
        private final Object target;

        private Wrapper(final Object target)
        {
            this.target = target;
        }

        @Override
        public Object invoke(final Object proxy, final Method method, final Object[] arguments) throws Throwable
        {
            switch (method.getName())
            {
                case "equals":
                    return proxy == arguments[0];
                case "hashCode":
                    return System.identityHashCode(target);
                default:
                    final Object[] given = arguments == null ? new Object[0] : arguments;
                    return mutant.invoke(target, method, given, changed -> call(method, changed));
            }
        }

        private Object call(final Method method, final Object[] arguments) throws Throwable
        {
            final Object[] sound = new Object[arguments.length];
            for (int i = 0; i < sound.length; i++)
            {
                sound[i] = unwrapped(arguments[i]);
            }
            try
            {
                return wrapped(method.invoke(target, sound));
            }
            catch (final InvocationTargetException ex)
            {
                throw ex.getCause();
            }
        }
    }
}

import{h as W}from"./chunk-SLOBXDLI.js";import"./chunk-DFSNNULU.js";import{A as q,B as G,C as Z,D as J,E as R,G as Q,O as U,j as I,k as P,w as F,x as C,y as B,z as L}from"./chunk-E6XMFL2X.js";import{a as y,e as N,g as M,h as O,i as _,l as k,o as H,q as z}from"./chunk-C4MI4RDX.js";var X=`.mem{position:absolute;inset:0;overflow:auto;padding:12px 16px 16px;font-size:12px;line-height:18px}
.mem svg{display:block}
.mem-key{display:flex;flex-wrap:wrap;gap:2px 18px;margin:0 0 8px}
.mem-key i.pg{display:inline-block;width:12px;height:12px;margin-right:6px;vertical-align:-2px;border:1px solid;font:9px/10px var(--sans);text-align:center}
.mem .dim{color:var(--text-2)}
.mem i.mine{background:var(--st-C);border-color:var(--st-C);color:var(--page)}
.mem i.shared{background:var(--st-C-t);border-color:var(--st-C)}
.mem i.other{background:var(--st-S-t);border-color:var(--st-S)}
.mem i.kept{background:none;border-color:var(--graphic)}
.mem i.empty{background:none;border-color:var(--rule)}
.mem rect.pg{stroke-width:1}
.mem rect.mine{fill:var(--st-C);stroke:var(--st-C)}
.mem rect.shared{fill:var(--st-C-t);stroke:var(--st-C);stroke-width:2}
.mem rect.other{fill:var(--st-S-t);stroke:var(--st-S)}
.mem rect.kept{fill:none;stroke:var(--graphic)}
.mem rect.empty{fill:none;stroke:var(--rule)}
.mem .pgm{font-size:9px;fill:var(--text);pointer-events:none}
.mem path.a{stroke:none}
.mem path.mine{fill:var(--st-C)}
.mem path.shared{fill:var(--st-C-t);stroke:var(--st-C)}
.mem path.other{fill:var(--st-S-t);stroke:var(--st-S);stroke-width:.5}
.mem path.kept{fill:var(--inset);stroke:var(--rule-2);stroke-width:.5}
.mem .tick{fill:var(--rule-2);cursor:pointer}
.mem .tick.prefill{fill:var(--st-R)}
.mem .tick.verify,.mem .tick.draft{fill:var(--st-S)}
.mem .tick.now{fill:var(--text)}
.mem .playhead{stroke:var(--text);stroke-width:1.5;fill:none}
.mem-pages{margin-top:12px;padding-top:12px;border-top:1px solid var(--rule)}
.mem-own{margin-top:14px;border-top:1px solid var(--rule);padding-top:8px}
.mem-own table{border-collapse:collapse;width:100%}
.mem-own caption{text-align:left;font-weight:600;padding-bottom:4px}
.mem-own th,.mem-own td{text-align:left;font-weight:400;padding:2px 10px 2px 0;white-space:nowrap}
.mem-own thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.mem-own td:last-child{width:100%;padding-right:0}
.mem-own ol{list-style:none;margin:0;padding:0;display:grid;grid-template-columns:repeat(16,minmax(0,1fr));gap:2px}
.mem-own li{height:22px;border:1px solid var(--c, var(--rule));background:var(--ct, none);overflow:hidden;font:11px/20px var(--mono);text-align:center;white-space:pre}
.mem-own li.R{--c: var(--st-R);--ct: var(--st-R-t)}
.mem-own li.D{--c: var(--st-D);--ct: var(--st-D-t)}
.mem-own li.free{border:1px dashed var(--rule-2)}
.mem-none{color:var(--text-2);margin-top:12px}
.mem-log{list-style:none;margin:0;padding:0;font-size:12px;line-height:18px}
.mem-log .m{color:var(--text-2);margin-right:6px}
@media(max-width:699px){.mem-own ol{grid-template-columns:repeat(8,minmax(0,1fr))}
}
.mem-io{grid-template-columns:88px minmax(0,1fr)!important;padding-left:0!important}
.mem-h{font-size:12px;font-weight:600;margin:14px 0 4px}

`;var he={n:7,id:"memory",title:"Memory",missing:U,mount:(p,e)=>new E(p,e)},Y=16,b=66,u=112,w=14,S=2,K={mine:"",shared:"s",other:"o",kept:"k",empty:""},E=class{constructor(e,t){this.body=e;this.ctx=t;W(e,X),this.el.className="mem",e.append(this.el),this.el.addEventListener("click",r=>{let s=r.target.closest("[data-pass]")?.getAttribute("data-pass");s&&t.set(I(t.recording,{...t.state,pass:Number(s),sel:""}))})}body;ctx;el=document.createElement("div");series=null;seriesOf="";get memory(){return B(this.ctx.recording)}get me(){return this.ctx.recording.file.request.number??0}get now(){let{recording:e,state:t}=this.ctx;return J(e,P(e,t),t.pass,t.layer)}update(){let e=this.ctx.recording,t=this.memory,r=`${e.version}/${t.changes?.length??0}`;(r!==this.seriesOf||!this.series)&&(this.series=Z(t,this.me),this.seriesOf=r);let s=this.body.clientWidth,o=this.now,m=q(t,this.me,o);s<40||(this.el.innerHTML=`<div class="mem-top">${te(t,m,o)}${se(e,t,this.series,o,this.ctx.state.pass,s-2*Y)}</div><div class="mem-pages">${re(t,m,this.me,s-2*Y)}</div>${oe(e,t,this.me,o)}`)}card(){let e=this.memory,t=this.now,r=this.me,s=q(e,r,t),o=[...e.changes??[]].reverse().filter(i=>i.t_ns<=t).slice(0,6),m=s.held.length,l=[["a page",`${e.page_tokens} positions, ${_(e.page_bytes)}${k("derived","shape of the model and the number formats")}`],["a token",`${_(e.bytes_per_token)}, keys ${y(e.keys)}, values ${y(e.values)}${k("derived","shape of the model and the number formats")}`],["this request",`${m} pages, ${_(m*e.page_bytes)}${k("derived","pages held by bytes of a page")}`],["written",`${R(this.ctx.recording,t)} positions of ${m*e.page_tokens}${k("measured","passes that were over")}`],["the cache",`${e.pages} pages, ${_(e.pages*e.page_bytes)}${k("declared","by the engine")}`],["prefix cache",e.prefix_cache?"on: full pages are found by the tokens before them":"off"]];return`<div class="c-main"><div class="c-pad"><div class="c-where">KV cache at ${H(t,"measured")}</div><h2>Whose pages</h2><p class="lede">Keys and values of each token lie in pages of ${e.page_tokens} positions. A request gets a page when it has filled the last.</p><dl class="c-io mem-io">${l.map(([i,c])=>`<dt>${i}</dt><dd>${c}</dd>`).join("")}</dl><h3 class="mem-h">What happened last</h3>${o.length?`<ol class="mem-log">${o.map(i=>`<li><span class="m">${M(i.t_ns)}</span> ${y(Q(i,r))}</li>`).join("")}</ol>`:'<p class="c-p">Nothing yet.</p>'}</div></div>`}table(){let e=this.memory,t=e.changes??[],r=this.now;return{caption:`Every change of a page, in order. Times are measured. At ${O(r)}: ${F.map(s=>`${q(e,this.me,r).counts[s]} ${C[s]}`).join("; ")}.`,head:["time","ns","what","request","pages","from"],rows:t.map(s=>[M(s.t_ns),N(s.t_ns),s.what,s.request===this.me?"this":s.request??"",s.pages.join(" "),s.from?.join(" ")??""]),now:t.reduce((s,o,m)=>o.t_ns<=r?m:s,-1)}}svg(){return this.el.querySelector("svg")?.outerHTML??null}destroy(){this.el.remove()}};function te(p,e,t){return`<p class="mem-key">${F.map(r=>`<span><i class="pg ${r}">${K[r]}</i>${C[r]} <b class="m">${e.counts[r]}</b></span>`).join("")}<span class="dim">${p.pages} pages at ${M(t)}</span></p>`}function se(p,e,t,r,s,o){let m=Math.max(1,p.total.ns,t.t.at(-1)??0),l=Math.max(10,o-b-8),i=n=>b+n/m*l,c=["mine","shared","other","kept"],a=Math.max(1,...t.t.map((n,x)=>c.reduce((g,v)=>g+t.counts[v][x],0))),d=n=>u-20-n/a*(u-34),h=t.t.map(()=>0),$="";for(let n of c){let x="",g="";t.t.forEach((v,A)=>{let T=h[A],j=T+t.counts[n][A],V=i(v),D=i(t.t[A+1]??m);x+=`${x?"L":"M"}${V.toFixed(1)} ${d(j).toFixed(1)}L${D.toFixed(1)} ${d(j).toFixed(1)}`,g=`L${D.toFixed(1)} ${d(T).toFixed(1)}L${V.toFixed(1)} ${d(T).toFixed(1)}${g}`,h[A]=j}),x&&($+=`<path class="a ${n}" d="${x}${g}Z"/>`)}let f=p.passes.map(n=>`<rect class="tick ${n.kind}${n.index===s?" now":""}" data-pass="${n.index}" x="${i(n.start_ns).toFixed(1)}" y="${u-16}" width="${Math.max(1,n.dur_ns/m*l-.5).toFixed(1)}" height="10"><title>pass ${n.index}, ${n.kind}</title></rect>`).join("");return`<svg width="${o}" height="${u}" viewBox="0 0 ${o} ${u}" role="img" aria-label="Pages by holder over ${y(M(m))}; at most ${a} of ${e.pages} are not empty"><text x="0" y="${d(a)+8}" class="cap s">${a} pages</text><text x="0" y="${u-7}" class="cap s">passes</text>${$}<path class="hair" d="M${b} ${u-19.5}H${b+l}"/>${f}<path class="playhead" d="M${i(r).toFixed(1)} 4V${u-4}"/></svg>`}function re(p,e,t,r){let s=Math.max(8,Math.min(p.pages,Math.floor((r-b)/(w+S)))),o=Math.ceil(p.pages/s),m=40,l=Math.min(o,m),i="";for(let a=0;a<Math.min(p.pages,l*s);a++){let d=e.pages.get(a),h=L(d,t),$=b+a%s*(w+S),f=Math.floor(a/s)*(w+S);a%s===0&&(i+=`<text x="0" y="${f+11}" class="cap s m">${a}</text>`),i+=`<rect class="pg ${h}" x="${$+.5}" y="${f+.5}" width="${w-1}" height="${w-1}">${h==="empty"?"":`<title>page ${a}: ${C[h]}${d.holders.length?`, requests ${d.holders.map(n=>n===t?"this":n).join(", ")}`:""}</title>`}</rect>`,K[h]&&(i+=`<text x="${$+w/2}" y="${f+10.5}" class="mid pgm">${K[h]}</text>`)}let c=l*(w+S)+(o>l?16:0);return o>l&&(i+=`<text x="${b}" y="${c-3}" class="cap s">and ${p.pages-l*s} more pages; the table has all that happened to them</text>`),`<svg width="${r}" height="${c}" viewBox="0 0 ${r} ${c}" role="img" aria-label="All ${p.pages} pages at the playhead: ${F.map(a=>`${e.counts[a]} ${C[a]}`).join(", ")}">${i}</svg>`}function oe(p,e,t,r){let s=G(e,t,r),o=R(p,r),m=p.file.request,l=m.prompt_tokens??[],i=[...l,...m.output_tokens??[]];if(!s.length)return'<p class="mem-none">This request holds no page at this moment.</p>';let c=q(e,t,r),a=64,d=s.slice(0,a).map((h,$)=>{let f=Array.from({length:e.page_tokens},(n,x)=>{let g=$*e.page_tokens+x,v=i[g];return g<o&&v?`<li class="${g<l.length?"R":"D"}" title="position ${g}, id ${v.id}">${y(z(v))}</li>`:'<li class="free"></li>'}).join("");return`<tr><th scope="row">page ${h}${L(c.pages.get(h),t)==="shared"?' <abbr title="shared with other requests">s</abbr>':""}</th><td class="m s">${$*e.page_tokens}</td><td><ol>${f}</ol></td></tr>`}).join("");return`<div class="mem-own"><table><caption>The request's page table: ${s.length} pages, ${o} positions written</caption><thead><tr><th scope="col">page</th><th scope="col">from</th><th scope="col">positions</th></tr></thead><tbody>${d}</tbody></table>${s.length>a?`<p class="dim">and ${s.length-a} more pages</p>`:""}</div>`}export{se as memoryChart,re as memoryGrid,he as memoryView};
